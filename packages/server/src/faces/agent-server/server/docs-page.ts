import type { Route } from "@convoke/protocol";

/** The page must not load, run or send anything, nor be shown in a frame. */
export const docsHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/**
 * A page for people: every route with what it does. Static, without scripts, so that it needs nothing from elsewhere. With `hasGuides` it
 * links the documentation at `/docs/`.
 */
export function docsPage(routes: readonly Route[], hasGuides: boolean): string {
  const groups = Map.groupBy(routes, (route) => route.tag);
  const sections = [...groups].map(
    ([tag, group]) => `<h2>${escape(tag)}</h2><table>${group.map(row).join("")}</table>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Convoke: agent server</title>
<style>${style}</style>
</head>
<body>
<h1>Convoke: agent server</h1>
<p>Every route, with the machine-readable form in <a href="openapi.json">openapi.json</a>. Routes marked
<span class="key">key</span> need the header <code>X-Session-API-Key</code>. Live events:
<code>/sockets/events/{conversation_id}</code>.${hasGuides ? ` <a href="docs/">Guides and reference</a>.` : ""}</p>
${sections.join("\n")}
</body>
</html>
`;
}

function row(route: Route): string {
  const path = escape(route.path).replaceAll(/\{(\w+)\}/g, "<i>{$1}</i>");
  const key = route.auth ? '<span class="key">key</span>' : "";
  return `<tr><td class="method">${route.method}</td><td><code>${path}</code> ${key}<p>${escape(route.summary)}</p></td></tr>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const style = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2rem; font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid #8884; padding: .6rem .5rem; vertical-align: top; }
td p { margin: .2rem 0 0; }
.method { font: 600 .85rem ui-monospace, monospace; width: 5rem; padding-top: .75rem; }
.key { font-size: .75rem; border: 1px solid #8888; border-radius: .5rem; padding: 0 .4rem; }
i { font-style: normal; opacity: .65; }
`;
