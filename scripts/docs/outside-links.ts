import { existsSync, statSync } from "node:fs";
import path from "node:path";

/** The part of a markdown-it token that is changed here. */
type Token = {
  type: string;
  content: string;
  tag: string;
  nesting: number;
  readonly children?: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
};

type State = { readonly tokens: Token[]; readonly env: { readonly relativePath?: string } };

export type MarkdownIt = {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } };
};

/**
 * A link from the documentation to a file of the repository that the site leaves out, such as a decision or a source, becomes its text with
 * the file's path as a hint. Links that lead nowhere stay, and fail the build.
 */
export function hintAtFilesOutside(
  markdown: MarkdownIt,
  { source, docs }: { source: string; docs: string },
): void {
  markdown.core.ruler.push("convoke-outside-links", ({ tokens, env }) => {
    const directory = path.dirname(env.relativePath ?? "");
    for (const { children } of tokens) {
      let isInHint = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const [target, anchor] = splitHref(token.attrGet("href") ?? "");
          if (target === "" || /^[a-z]+:|^\//.test(target)) continue;
          const page = path.join(directory, target.replace(/(^|\/)README\.md$/, "$1index.md"));
          if (isFile(path.join(source, page)) || isFile(path.join(source, "public", page))) {
            token.attrSet("href", `${target.replace(/(^|\/)README\.md$/, "$1index.md")}${anchor}`);
            continue;
          }
          const file = path.join(docs, directory, target);
          if (!existsSync(file)) continue;
          isInHint = true;
          asHtml(token, `<span class="in-repository" title="${path.relative(path.dirname(docs), file)}">`);
        } else if (token.type === "link_close" && isInHint) {
          isInHint = false;
          asHtml(token, "</span>");
        }
      }
    }
  });
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function splitHref(href: string): readonly [string, string] {
  const start = href.indexOf("#");
  return start === -1 ? [href, ""] : [href.slice(0, start), href.slice(start)];
}

function asHtml(token: Token, html: string): void {
  token.type = "html_inline";
  token.tag = "";
  token.nesting = 0;
  token.content = html;
}
