import { posix } from "node:path";
import type { CanvasExtensionManifest } from "@convoke/protocol";
import { isObject } from "../../lib/json-object.ts";
import { readTextFile, type WorkspaceFiles } from "../skills/workspace-files.ts";

/** The manifest of a canvas extension, or why the folder has none that can be used. */
export type ReadManifest =
  | { readonly ok: true; readonly manifest: CanvasExtensionManifest }
  | { readonly ok: false; readonly reason: string };

const plainName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const manifestFile = "canvas-extension.json";

/** Reads `canvas-extension.json`, and checks what the page of Agent Canvas relies on. */
export async function readCanvasManifest(files: WorkspaceFiles, directory: string): Promise<ReadManifest> {
  const refuse = (reason: string): ReadManifest => ({ ok: false, reason });
  const file = await readTextFile(files, posix.join(directory, manifestFile));
  if (file === null || file.isCut) return refuse(`has no ${manifestFile} that can be read`);
  let given: unknown;
  try {
    given = JSON.parse(file.text);
  } catch {
    // The parser's own words would show the file's.
    return refuse(`has a ${manifestFile} that is not JSON`);
  }
  if (!isObject(given)) return refuse(`has a ${manifestFile} that is no object`);
  for (const field of ["name", "display_name", "version", "entrypoint"])
    if (typeof given[field] !== "string") return refuse(`has a manifest without the text ${field}`);
  const { schema_version: version, contributes, icon = null, backend = null } = given;
  if (version !== 1) return refuse("has a manifest whose schema_version is not 1");
  const texts = given as Record<"name" | "display_name" | "version" | "entrypoint", string>;
  if (!plainName.test(texts.name)) return refuse("has a manifest without a plain name");
  if (!isInside(texts.entrypoint)) return refuse("has an entrypoint that leads outside");
  if (icon !== null && (typeof icon !== "string" || !isInside(icon) || !/\.svg$/i.test(icon)))
    return refuse("has an icon that is no SVG file inside of it");
  const pages = readPages(isObject(contributes) ? (contributes["pages"] ?? []) : []);
  if (typeof pages === "string") return refuse(pages);
  const description = typeof given["description"] === "string" ? given["description"] : "";
  const { name, display_name, entrypoint } = texts;
  return {
    ok: true,
    manifest: {
      schema_version: 1,
      name,
      display_name,
      version: texts.version,
      description,
      entrypoint,
      contributes: { pages },
      backend: isObject(backend) ? backend : null,
      icon,
    },
  };
}

type Pages = NonNullable<NonNullable<CanvasExtensionManifest["contributes"]>["pages"]>;

function readPages(given: unknown): Pages | string {
  if (!Array.isArray(given) || given.length > 50) return "has pages that are no list";
  const pages: Pages = [];
  for (const page of given as unknown[]) {
    if (!isObject(page)) return "has a page that is no object";
    const { id, title, path } = page;
    if (typeof id !== "string" || !plainName.test(id)) return "has a page without a plain id";
    if (typeof title !== "string" || typeof path !== "string")
      return `has a page ${id} without title or path`;
    const isPath =
      path.startsWith("/") &&
      path
        .slice(1)
        .split("/")
        .every((part) => plainName.test(part));
    if (!isPath) return `has a page ${id} whose path is not plain`;
    if (pages.some((other) => other.id === id || other.path === path)) return `has the page ${id} twice`;
    pages.push({ id, title, path });
  }
  return pages;
}

function isInside(path: string): boolean {
  const normal = posix.normalize(path);
  return path !== "" && !posix.isAbsolute(path) && normal !== "." && !/^\.\.(?:\/|$)/.test(normal);
}
