import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "vitepress";
import { headingSlug } from "../../scripts/docs/heading-slug.ts";
import { hintAtFilesOutside } from "../../scripts/docs/outside-links.ts";
import { sidebarOf } from "../../scripts/docs/sidebar.ts";

const site = path.resolve(import.meta.dirname, "..");
const source = path.join(site, ".source");

/** Files of packages that the built scripts have code of, for the notices; of both builds, for the browser and for writing the pages. */
const bundled = new Set<string>();
const listBundled = {
  name: "convoke-bundled",
  generateBundle(_options: unknown, bundle: Record<string, { moduleIds?: readonly string[] }>): void {
    for (const { moduleIds = [] } of Object.values(bundle)) {
      for (const id of moduleIds) if (id.includes("node_modules/")) bundled.add(id.split("?")[0] ?? id);
    }
    mkdirSync(path.join(site, ".cache"), { recursive: true });
    writeFileSync(path.join(site, ".cache/bundled.json"), JSON.stringify([...bundled]));
  },
};

/** Pages are plain Markdown of `docs`, put together by `scripts/build-docs.ts`. A link that leads nowhere fails the build. */
export default defineConfig({
  title: "Convoke",
  description: "An agent conversation server: durable, searchable, live.",
  lang: "en",
  base: "/docs/",
  srcDir: ".source",
  outDir: "dist",
  cacheDir: ".cache",
  // Otherwise each page has inline scripts of its own, which the content security policy would have to name.
  metaChunk: true,
  head: [["link", { rel: "icon", href: "/docs/icon.svg" }]],
  markdown: {
    anchor: { slugify: headingSlug },
    config: (markdown) => hintAtFilesOutside(markdown, { source, docs: path.resolve(site, "../docs") }),
  },
  vite: { plugins: [listBundled] },
  themeConfig: {
    logo: "/icon.svg",
    nav: [],
    sidebar: sidebarOf(source),
    outline: [2, 3],
    search: { provider: "local" },
    docFooter: { prev: false, next: false },
  },
});
