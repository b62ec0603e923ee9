import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { headingSlug } from "./heading-slug.ts";

const root = path.join(import.meta.dirname, "../..");
const pages = [
  ...globSync("docs/**/*.md", { cwd: root }),
  ...globSync("*.md", { cwd: root }),
  ...globSync("examples/**/*.md", { cwd: root }),
];

/** Without code, where brackets are no links. */
function read(page: string): string {
  return readFileSync(path.join(root, page), "utf8").replaceAll(/^( *)```[\s\S]*?^\1```/gm, "");
}

function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...read(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, text = ""]) =>
    headingSlug(text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "")),
  );
  const seen = new Map<string, number>();
  return new Set(
    headings.map((slug) => {
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
}

test("links of the documentation lead to files and headings that are there", () => {
  const anchors = new Map<string, ReadonlySet<string>>();
  const dead: string[] = [];
  for (const page of pages) {
    for (const [, href = ""] of read(page)
      .replaceAll(/`[^`\n]*`/g, "")
      .matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^[a-z]+:/.test(href)) continue;
      const [target = "", anchor] = href.split("#");
      const file = target === "" ? page : path.join(path.dirname(page), target);
      if (!existsSync(path.join(root, file))) dead.push(`${page}: ${href}`);
      else if (anchor !== undefined && file.endsWith(".md")) {
        if (!anchors.has(file)) anchors.set(file, anchorsOf(file));
        if (!anchors.get(file)!.has(anchor)) dead.push(`${page}: ${href}`);
      }
    }
  }
  expect(dead).toEqual([]);
});

test.each([
  ["Shells of one's own", "shells-of-ones-own"],
  ["1. Install", "1-install"],
  ["`mcp_config`, and more", "mcp_config-and-more"],
])("the anchor of %s is %s", (text, slug) => expect(headingSlug(text)).toBe(slug));
