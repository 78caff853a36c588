# SPDX-License-Identifier: Apache-2.0
# AUROC, DeLong variance and interval, and partial areas of the aSAH data by R pROC.
# Run by hand; the output is tests/reference/proc.json:  Rscript tests/reference/make/proc.R > tests/reference/proc.json
suppressMessages(library(pROC))
data(aSAH)
truth <- as.integer(aSAH$outcome == "Poor")
show <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE), collapse = ", "), "]")
one <- function(name) {
  score <- as.numeric(aSAH[[name]])
  r <- roc(truth, score, direction = "<", levels = c(0, 1), quiet = TRUE)
  ci <- as.numeric(ci.auc(r, method = "delong"))
  part <- function(limit, correct) as.numeric(auc(r, partial.auc = c(1, 1 - limit), partial.auc.correct = correct))
  paste0('"', name, '": {"score": ', show(score),
    ', "auroc": ', show(as.numeric(auc(r))), ', "variance": ', show(var(r, method = "delong")),
    ', "low": ', show(ci[1]), ', "high": ', show(ci[3]),
    ', "partial": {"0.1": ', show(part(0.1, FALSE)), ', "0.35": ', show(part(0.35, FALSE)), '}',
    ', "standardised": {"0.1": ', show(part(0.1, TRUE)), ', "0.35": ', show(part(0.35, TRUE)), '}}')
}
cat('{"origin": "R ', as.character(getRversion()), ', pROC ', as.character(packageVersion("pROC")),
    ', data aSAH (Turck et al. 2010)", "truth": ', show(truth), ', "columns": {',
    paste(sapply(c("s100b", "ndka", "wfns", "age"), one), collapse = ",\n"), '}}\n', sep = "")
