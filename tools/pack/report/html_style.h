// The looks of pack-report.html.
#pragma once

namespace shardmill {

constexpr char kReportStyle[] = R"(
:root{--ink:#1d2129;--soft:#667085;--line:#e4e7ec;--card:#fff;--page:#f5f6f8;--accent:#2e86de}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
 font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1180px;margin:0 auto;padding:32px 24px 64px}
header h1{margin:0;font-size:28px;letter-spacing:-.01em;overflow-wrap:anywhere}
header p{margin:4px 0 0;color:var(--soft)}
h2{margin:0 0 12px;font-size:17px}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;
 padding:20px 22px;margin-top:20px;overflow-x:auto}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(160px,1fr));gap:14px;
 margin-top:22px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.tile b{display:block;font-size:22px;font-weight:650;line-height:1.25;white-space:nowrap}
.tile span{color:var(--soft);font-size:13px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:500;font-size:13px;text-align:left;white-space:nowrap}
th,td{padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:middle}
tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;white-space:nowrap}
.bar{min-width:120px;height:10px;border-radius:5px;background:#eef0f3;overflow:hidden}
.bar i{display:block;height:100%;min-width:1px;border-radius:5px;
 box-shadow:inset 0 0 0 1px rgba(0,0,0,.12)}
.swatch{display:inline-block;width:14px;height:14px;border-radius:4px;margin-right:8px;
 vertical-align:-2px;box-shadow:inset 0 0 0 1px rgba(0,0,0,.2)}
.hatch{background:repeating-linear-gradient(135deg,#46464a 0 3px,#98989e 3px 6px)}
code{font:13px/1.4 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.name{display:block;min-width:min(32ch,28vw)}
ul{margin:0;padding-left:18px}
li{overflow-wrap:anywhere}
.warn{border-left:4px solid #e0a100}
.samples{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:16px}
figure{margin:0}
figcaption{font-size:12px;color:var(--soft);margin-top:4px;overflow-wrap:anywhere}
.stack{position:relative;border-radius:6px;overflow:hidden;background:#eef0f3}
.stack img{display:block;width:100%}
.stack .label{position:absolute;inset:0;height:100%;opacity:.55;image-rendering:pixelated;
 transition:opacity .15s}
.stack .label:first-child{position:static;height:auto;opacity:1}
.stack:hover .image~.label{opacity:0}
.recipe tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(440px,1fr));column-gap:30px}
.recipe tr{display:grid;grid-template-columns:40% 60%;border-bottom:1px solid var(--line)}
.recipe td{border:0}
.note{color:var(--soft);font-size:13px;margin:10px 0 0}
@media print{section,.tile{break-inside:avoid}}
)";

}  // namespace shardmill
