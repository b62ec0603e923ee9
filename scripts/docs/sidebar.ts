import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { readNavigation } from "./navigation.ts";

type Item = {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: Item[];
};

/** The navigation of the site whose pages are in `source`: the lists of its front page, then the pages that are made of code. */
export function sidebarOf(source: string): Item[] {
  const sections = readNavigation(readFileSync(path.join(source, "index.md"), "utf8"));
  const listed = new Set(sections.flatMap(({ pages }) => pages.map(({ target }) => target)));
  const others = readdirSync(path.join(source, "guides"))
    .map((file) => `guides/${file}`)
    .filter((file) => file.endsWith(".md") && !listed.has(file))
    .map((file) => ({ text: titleOf(readFileSync(path.join(source, file), "utf8")), link: `/${file}` }));
  return [
    ...sections.map(({ title, pages }, index) => ({
      text: title,
      collapsed: index > 1,
      items: pages.map((page) => ({
        text: page.title,
        link: `/${page.target.replace(/README\.md$/, "index.md")}`,
      })),
    })),
    // A guide that no list has yet is not lost.
    ...(others.length === 0 ? [] : [{ text: "More guides", collapsed: true, items: others }]),
    {
      text: "Routes and types",
      collapsed: true,
      items: [
        group(source, "Agent server", "reference/agent-server"),
        group(source, "App server", "reference/app-server"),
        group(source, "@convoke/client", "reference/client"),
      ],
    },
  ];
}

function group(source: string, text: string, folder: string): Item {
  const files = readdirSync(path.join(source, folder), { recursive: true, encoding: "utf8" });
  const pages = files.filter((file) => file.endsWith(".md")).toSorted();
  return {
    text,
    collapsed: true,
    items: pages.map((file) => ({
      text: titleOf(readFileSync(path.join(source, folder, file), "utf8")),
      link: `/${folder}/${file}`,
    })),
  };
}

function titleOf(markdown: string): string {
  return (/^# (.+)$/m.exec(markdown)?.[1] ?? "").replaceAll(/[\\`]|<.*>|\(\)/g, "");
}
