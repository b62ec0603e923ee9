/** Texts of models and tools as Markdown, read safely: bounded in time and depth, with links that are only links. */
export { safeAddress } from "./view/safe-address.ts";
export { maxDepth, maxMarkdown, parseMarkdown } from "./view/parse-markdown.ts";
