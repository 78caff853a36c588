// Moves the threshold: point, cells and rates together, from the counts the page carries.
(() => {
const card = document.getElementById('threshold'), range = document.getElementById('t');
if (!card || !range) return;
const points = card.dataset.points.split(';').map(p => p.split(',').map(x => x === '' ? null : Number(x)));
const [positives, negatives] = (card.dataset.totals || points[points.length - 1].slice(1).join()).split(',').map(Number);
const at = id => document.getElementById(id);
const start = Number(range.value), from = at('t-from').textContent;
// The frame of the charts: top edge and side; each says where its left edge is.
const [TOP, SIDE] = [30, 240];
const rate = (a, b) => b ? (a / b).toFixed(3) : '\u2205';
const count = n => n.toLocaleString('en', {maximumFractionDigits: 3});
const set = (one, values) => { for (const name in values) one.setAttribute(name, values[name]); };
const place = (mark, x, y, name) => {
if (!mark) return;
const cx = Number(mark.closest('svg').dataset.left) + SIDE * x, cy = TOP + SIDE * (1 - y), label = mark.nextElementSibling;
set(mark, {cx, cy});
if (!label) return;
set(label, {x: x > .6 ? cx - 9 : cx + 9, y: Math.min(cy + 16, TOP + SIDE - 3), 'text-anchor': x > .6 ? 'end' : 'start'});
label.textContent = name;
};
const histogram = at('cut') ? at('cut').closest('svg') : null;
const shown = {now: at('t-now').textContent};
const move = () => {
const i = Number(range.value), [threshold, tp, fp] = points[i], fn = positives - tp, tn = negatives - fp;
const name = i === start ? shown.now : threshold === null ? 'none called' : threshold === -Infinity ? 'every row' : String(Number(threshold.toPrecision(6)));
at('t-now').textContent = name;
at('t-from').textContent = i === start ? from : 'moved by hand; the report rests on ' + shown.now;
const cells = {tp, fp, fn, tn};
for (const cell in cells) at('c-' + cell).textContent = count(cells[cell]);
const rates = {recall: rate(tp, positives), spec: rate(tn, negatives), prec: rate(tp, tp + fp), npv: rate(tn, tn + fn),
f1: rate(2 * tp, 2 * tp + fp + fn), acc: rate(tp + tn, positives + negatives), call: rate(tp + fp, positives + negatives)};
for (const key in rates) if (at('r-' + key)) at('r-' + key).textContent = rates[key];
const label = 'threshold ' + name;
place(at('mark-roc'), fp / negatives, tp / positives, label);
place(at('mark-pr'), tp / positives, tp + fp ? tp / (tp + fp) : 1, label);
if (histogram && threshold !== null) {
const [left, low, high] = ['left', 'low', 'high'].map(name => Number(histogram.dataset[name]));
const x = left + SIDE * Math.min(1, Math.max(0, (threshold - low) / (high - low)));
at('cut').setAttribute('d', at('cut').getAttribute('d').replace(/^M[\d.]+/, 'M' + x.toFixed(1)));
}
range.setAttribute('aria-valuetext', 'threshold ' + name + ', recall ' + rates.recall + ', precision ' + rates.prec);
};
range.hidden = false;
range.addEventListener('input', move);
range.setAttribute('aria-valuetext', 'threshold ' + shown.now);
})();
