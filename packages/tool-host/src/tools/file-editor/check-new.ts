import { lstat, readlink, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { codeOf } from "./atomic-write.ts";

/** The reason why no file can be created at an unreadable path: a broken link, or a file in place of a directory. */
export async function checkNew(path: string, field = "path"): Promise<void> {
  const target = await readlink(path).catch(() => undefined); // Not a link: the usual case.
  if (target !== undefined) {
    throw new ToolInputError(
      `Invalid parameter ${field}: ${path} is a link to ${target}, which does not exist. Create that, or remove the link in the terminal.`,
    );
  }
  for (let above = dirname(path); ; above = dirname(above)) {
    const kind = await kindOf(above);
    if (kind === "directory") return;
    if (kind === "other")
      throw new ToolInputError(
        `Invalid parameter ${field}: ${above} is a file and no directory, so nothing can be created below it.`,
      );
    if (kind === "dangling")
      throw new ToolInputError(
        `Invalid parameter ${field}: ${above} is a link to a directory that does not exist.`,
      );
    if (above === dirname(above)) return;
  }
}

async function kindOf(path: string): Promise<"directory" | "other" | "dangling" | "nothing"> {
  try {
    return (await stat(path)).isDirectory() ? "directory" : "other";
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(codeOf(error))) return "nothing"; // Creating it reports the error.
  }
  return lstat(path).then(
    () => "dangling",
    () => "nothing",
  );
}
