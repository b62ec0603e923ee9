import { createHash } from "node:crypto";
import { escapeHtml } from "./escape-html.ts";

const style = `
:root{color-scheme:light dark;--text:#1c1f23;--soft:#5a626b;--line:#d9dde2;--panel:#f5f6f8;--page:#fff;--accent:#0b5cad;--good:#14692f;--bad:#a61b1b;--goodback:#e5f5e9;--badback:#fdeaea}
@media(prefers-color-scheme:dark){:root{--text:#e4e7ea;--soft:#a2abb5;--line:#363c44;--panel:#20242a;--page:#16191d;--accent:#7db8f5;--good:#7fd79a;--bad:#ff9b95;--goodback:#173321;--badback:#3f1f1f}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,sans-serif}
main{max-width:54rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;line-height:1.3;margin:0 0 1.5rem}
h2{font-size:.9rem;margin:0 0 .4rem;display:flex;flex-wrap:wrap;gap:.2rem .6rem;align-items:baseline}
h3{font-size:1.1rem}h4,h5,h6{font-size:1rem}
time{color:var(--soft);font-weight:400;font-size:.8rem}
section{margin:1.4rem 0;overflow-wrap:anywhere}
.user{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}
.call{border-left:3px solid var(--line);padding-left:.8rem;margin:.8rem 0}
.call>p:first-child{margin:0 0 .3rem;font-size:.85rem;color:var(--soft)}
.note{color:var(--soft);font-size:.9rem}.bad{color:var(--bad)}
p{margin:.5rem 0}a{color:var(--accent)}img{max-width:100%;height:auto}
pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85rem}
pre{background:var(--panel);border:1px solid var(--line);border-radius:.35rem;padding:.6rem .75rem;margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
code{overflow-wrap:anywhere}:not(pre)>code{background:var(--panel);padding:.1em .3em;border-radius:.25rem}
pre.diff{padding:.4rem 0}pre.diff span{display:block;padding:0 .75rem}
pre.diff .added{background:var(--goodback);color:var(--good)}pre.diff .removed{background:var(--badback);color:var(--bad)}
summary{cursor:pointer;color:var(--soft);font-size:.85rem;padding:.2rem 0}
blockquote{margin:.5rem 0;padding-left:.8rem;border-left:3px solid var(--line);color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:left}
@media print{:root{color-scheme:light;--text:#000;--soft:#444;--line:#bbb;--panel:#fff;--page:#fff;--accent:#000;--good:#14692f;--bad:#a61b1b;--goodback:#fff;--badback:#fff}body{font-size:11pt}main{max-width:none;padding:0}h2,summary{break-after:avoid}details::details-content{content-visibility:visible;block-size:auto}}
`.trim();

/** Only the style of the page and pictures in it: no script, no request, no form, whatever a text would be taken for. */
const policy = [
  "default-src 'none'",
  "img-src data:",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** What stands before the sections of a conversation. */
export function pageHead(title: string): string {
  const shown = escapeHtml(title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${shown}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${shown}</h1>
`;
}

export const pageFoot = "</main>\n</body>\n</html>\n";
