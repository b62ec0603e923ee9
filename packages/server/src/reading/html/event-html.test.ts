import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { eventHtml } from "./event-html.ts";
import { pageFoot, pageHead } from "./html-page.ts";

const html = (...events: object[]): string => events.map((event) => eventHtml(event as Event)).join("");
const textOf = (text: string) => [{ type: "text", text }];
const message = (text: string, source = "agent") => ({
  kind: "MessageEvent",
  source,
  llm_message: { content: textOf(text) },
});
const run = (content: string, exitCode: number) => ({
  kind: "ObservationEvent",
  observation: { kind: "TerminalObservation", content: textOf(content), exit_code: exitCode },
});

test("issue 26: what was said, done and answered is a section each; what says nothing to a person is left out", () => {
  expect(
    html(
      { kind: "SystemPromptEvent", system_prompt: textOf("hidden") },
      { ...message("Mend **it**.", "user"), timestamp: "2026-01-01T00:00:00" },
      {
        kind: "ActionEvent",
        tool_name: "terminal",
        summary: "run the tests",
        thought: textOf("First `npm test`."),
        action: { kind: "TerminalAction", command: "npm test" },
      },
      run("\u001b[32mall\u001b[0m\ngreen\n", 0),
      run("no", 2),
      run("", 0),
      { kind: "UserRejectObservation", rejection_reason: "No." },
      { kind: "ActionEvent", action: { kind: "FinishAction", message: "Done." } },
    ),
  )
    .toBe(`<section class="user"><h2>User <time>2026-01-01T00:00:00</time></h2><p>Mend <strong>it</strong>.</p></section>
<section class="agent"><h2>Agent</h2><p>First <code>npm test</code>.</p></section>
<section class="call"><p><strong>terminal</strong>: run the tests</p><pre>$ npm test</pre></section>
<section class="call"><details><summary>Output: 2 lines</summary><pre>all
green</pre></details></section>
<section class="call"><details open><summary><span class="bad">Failed</span>: 1 line, exit 2</summary><pre>no</pre></details></section>
<section><p class="note">Rejected: No.</p></section>
<section class="agent"><h2>Agent</h2><p>Done.</p></section>
`);
});

test("issue 26: an edit is shown by its changed lines", () => {
  const observation = {
    kind: "FileEditorObservation",
    command: "str_replace",
    path: "/w/a<b>.ts",
    old_content: "one\ntwo <i>\n",
    new_content: "one\n2\n",
  };
  expect(html({ kind: "ObservationEvent", id: "1", observation })).toBe(
    '<section class="call"><details open><summary><code>/w/a&lt;b&gt;.ts</code> +1 -1</summary><pre class="diff"><span class="same">  one</span><span class="removed">- two &lt;i&gt;</span><span class="added">+ 2</span></pre></details></section>\n',
  );
});

const hostile = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  "[a](javascript:alert(1)) [b](data:text/html,x) ![c](https://example.org/track.png)",
  '[d](https://example.org/"onmouseover="alert(1))',
  "`<b>` ``` </code></pre><script>x</script> ```",
  '```"><script>\n</pre><script>alert(1)</script>\n```',
  "| <script> |\n| --- |\n| </td><script>alert(1)</script> |",
  "</main></body></html><script>alert(1)</script>",
  "# <svg onload=alert(1)>\n> <iframe src=//example.org>\n- <style>*{display:none}</style>",
  "&lt;script&gt; &#60;script&#62;",
].flatMap((text) => [text, `**${text}**`, `\u202e${text}\u0000\ud800`]);

test.each(hostile)("issue 26: the text %j can only be read", (text) => {
  const observation = { content: textOf(text), path: text, command: "create", new_content: text };
  const page = html(
    message(text, "user"),
    message(text),
    { kind: "ActionEvent", tool_name: text, summary: text, action: { kind: "X", [text]: text } },
    { kind: "ActionEvent", thought: textOf(text), action: { kind: "TerminalAction", command: text } },
    { kind: "ObservationEvent", observation },
    { kind: "ObservationEvent", observation: { ...observation, kind: "FileEditorObservation" } },
    { kind: "AgentErrorEvent", error: text },
    {
      kind: "MessageEvent",
      timestamp: text,
      llm_message: { content: [{ type: "image", image_urls: [text] }] },
    },
  );
  const whole = pageHead(text) + page + pageFoot;
  const names = [...whole.replace(/<style>[^]*?<\/style>/u, "").matchAll(/<\/?([a-z0-9!]+)([^>]*)>/giu)];
  const known =
    /^(?:!doctype|html|head|meta|title|body|main|section|h[1-6]|p|time|strong|em|code|pre|details|summary|span|a|ul|ol|li|blockquote|div|table|thead|tbody|tr|th|td|br|hr|del)$/iu;
  expect(names.map(([, name]) => name).filter((name) => !known.test(name!))).toEqual([]);
  const attributes = names.map(([, , rest]) => rest!.replaceAll(/"[^"]*"/gu, "")).join(" ");
  expect(attributes).not.toMatch(/\bon[a-z]+\s*=|\bsrc|\bstyle/iu);
  expect(whole).not.toMatch(/href="(?!https?:|mailto:)/iu);
  // oxlint-disable-next-line no-control-regex -- what must not be in the page
  expect(whole).not.toMatch(/[\u0000\u202e]|\p{Cs}/u);
});

test("pictures of the log are shown, others are named; a long output is cut, and says so", () => {
  const image = (url: string) => ({
    kind: "MessageEvent",
    source: "user",
    llm_message: { content: [{ type: "image", image_urls: [url] }] },
  });
  expect(html(image("data:image/png;base64,iVBORw0KGgo="))).toContain(
    '<img alt="picture" src="data:image/png;base64,iVBORw0KGgo=">',
  );
  expect(html(image("data:image/svg+xml;base64,PHN2Zz4="))).toContain("[picture]");
  expect(html(run("x".repeat(30_000), 0))).toContain("… 10000 more characters");
});

test("the page lets nothing run and nothing load, by a policy that its own style passes", async () => {
  const head = pageHead("A");
  const policy = /Content-Security-Policy" content="([^"]*)"/u.exec(head)![1]!.replaceAll("&#39;", "'");
  expect(policy).toMatch(
    /^default-src 'none'; img-src data:; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/u,
  );
  const style = new TextEncoder().encode(/<style>([^]*)<\/style>/u.exec(head)![1]);
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", style)).toString("base64");
  expect(policy).toContain(`'sha256-${digest}'`);
});
