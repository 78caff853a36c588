# SPDX-License-Identifier: Apache-2.0
# Tests of significance by R on random input with ties, zeros and few rows: pROC for areas, the rest by R itself.
# Run by hand: Rscript tests/reference/make/r_tests.R > tests/reference/r_tests.json
suppressMessages({library(pROC); library(jsonlite)})
RNGversion("4.0.0")
number <- function(x) unname(as.numeric(x))
draw <- function(seed, n) { set.seed(seed); x <- rnorm(n); if (seed %% 2) round(x, 1) else x }

area <- function(seed) {
  n <- c(8, 12, 25, 60, 200, 9)[seed %% 6 + 1]
  y <- rep(c(0, 1), length.out = n)
  a <- round(draw(seed, n) + y, 9); b <- round(a + draw(seed + 100, n), 9)
  if (seed %% 4 == 3) { a <- round(a); b <- round(b) }
  curve <- function(s, at = seq_len(n)) roc(y[at], s[at], levels = c(0, 1), direction = "<", quiet = TRUE)
  paired <- roc.test(curve(a), curve(b), method = "delong", paired = TRUE)
  half <- seq_len(n) <= n / 2
  apart <- roc.test(curve(a, half), curve(b, !half), method = "delong", paired = FALSE)
  list(truth = y, a = a, b = b, areas = number(paired$estimate), z = number(paired$statistic), p = paired$p.value,
       interval = number(paired$conf.int), first = sum(half), apart_d = number(apart$statistic),
       apart_df = number(apart$parameter), apart_p = apart$p.value)
}
ranks <- function(seed) {
  n <- c(6, 9, 15, 30)[seed %% 4 + 1]
  set.seed(seed); d <- rnorm(n, 0.3)
  w <- wilcox.test(d, conf.int = TRUE, exact = TRUE)
  set.seed(seed + 50); a <- rnorm(min(n, 15)); b <- rnorm(min(n, 15) + 3, 0.5)
  m <- wilcox.test(a, b, conf.int = TRUE, exact = TRUE)
  list(d = d, p = w$p.value, estimate = number(w$estimate), interval = number(w$conf.int), a = a, b = b,
       apart_p = m$p.value, apart_estimate = number(m$estimate))
}
spread <- function(seed) {
  a <- draw(seed, 7 + seed); b <- 1.5 * draw(seed + 20, 9 + seed)
  f <- var.test(a, b)
  list(a = a, b = b, f = number(f$statistic), p = f$p.value, interval = number(f$conf.int),
       bartlett = bartlett.test(list(a, b))$p.value)
}
measured <- function(seed) {
  j <- c(5, 8, 14, 30)[seed %% 4 + 1]
  set.seed(seed); x <- matrix(rnorm(4 * j), j) + rnorm(j) %o% c(1, 1, 1, 0.2)
  fit <- lm(x ~ 1)
  whole <- anova(fit, X = ~1, test = "Spherical")
  long <- data.frame(v = c(x), m = factor(rep(1:4, each = j)), s = factor(rep(1:j, 4)))
  tukey <- TukeyHSD(aov(v ~ m, long))$m
  welch <- oneway.test(v ~ m, long)
  r <- t(apply(-x, 1, rank))
  ranked <- data.frame(v = c(r), m = long$m, s = long$s)
  davenport <- summary(aov(v ~ m + s, ranked))[[1]]
  list(x = x, f = whole[1, "F"], p = whole[1, "Pr(>F)"], gg = whole[1, "G-G Pr"],
       epsilon = as.numeric(sub(".*: *", "", grep("Greenhouse", attr(whole, "heading"), value = TRUE))),
       tukey_p = number(tukey[, "p adj"]), welch_f = number(welch$statistic), welch_p = welch$p.value,
       friedman = friedman.test(x)$p.value, davenport_f = davenport["m", "F value"], davenport_p = davenport["m", "Pr(>F)"])
}
counts <- function(seed) {
  set.seed(seed)
  wide <- matrix(rpois(6, c(3, 8, 5, 9, 2, 6)), 2); wide[1, 1] <- wide[1, 1] + 1; wide[2, 3] <- wide[2, 3] + 1
  wide[, 2] <- wide[, 2] + 1
  four <- matrix(rpois(4, 6) + c(1, 0, 0, 1), 2)
  f <- fisher.test(four)
  strata <- array(rpois(12, 8) + 1, c(2, 2, 3))
  m <- mantelhaen.test(strata, correct = FALSE)
  hits <- rpois(2, 20); of <- hits + rpois(2, 15)
  chi <- suppressWarnings(chisq.test(wide)$p.value)
  list(wide = wide, wide_p = fisher.test(wide)$p.value, chi = chi, four = four, fisher_p = f$p.value,
       fisher_odds = number(f$estimate), fisher_interval = number(f$conf.int), strata = strata, mantel_p = m$p.value,
       mantel_odds = number(m$estimate), hits = hits, of = of, shares_p = prop.test(hits, of, correct = FALSE)$p.value,
       binomial_p = binom.test(hits[1], of[1], 0.5)$p.value,
       mcnemar = mcnemar.test(four)$p.value, mcnemar_plain = mcnemar.test(four, correct = FALSE)$p.value)
}
many <- function(seed) {
  set.seed(seed); p <- round(runif(3 + seed)^2, 3)
  how <- c("bonferroni", "holm", "BH", "BY")
  c(list(p = p), setNames(lapply(how, function(one) p.adjust(p, one)), how))
}
every <- list(
  origin = paste0("R ", getRversion(), ", pROC ", packageVersion("pROC")), area = lapply(0:11, area),
  ranks = lapply(0:7, ranks), spread = lapply(0:5, spread), measured = lapply(0:7, measured),
  counts = lapply(0:9, counts), many = lapply(0:4, many))
cat(toJSON(every, digits = NA, auto_unbox = TRUE), "\n", sep = "")
