import path from "node:path";
import { defineConfig } from "vitepress";
import { headingSlug } from "../../scripts/docs/heading-slug.ts";
import { hintAtFilesOutside } from "../../scripts/docs/outside-links.ts";
import { sidebarOf } from "../../scripts/docs/sidebar.ts";

const site = path.resolve(import.meta.dirname, "..");
const source = path.join(site, ".source");

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
  themeConfig: {
    logo: "/icon.svg",
    nav: [],
    sidebar: sidebarOf(source),
    outline: [2, 3],
    search: { provider: "local" },
    docFooter: { prev: false, next: false },
  },
});
