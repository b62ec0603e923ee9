import { realpath } from "node:fs/promises";
import { dirname } from "node:path";

export type FolderPlaces = {
  /** Absolute, resolved. */
  readonly dataDir: string;
  /** The home of the server's user; null when there is none. */
  readonly home: string | null;
};

/** Folders that hold a system, or the sockets and files of other programs. */
const systemFolders = new Set(
  "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /nix /opt /proc /root /run /sbin /sys /tmp /usr /var /var/lib /var/tmp".split(
    " ",
  ),
);
const closedTrees = ["/boot", "/dev", "/etc", "/proc", "/sys"];

/** Below the home. A working folder that an earlier agent has replaced by a link must not lead there. */
const credentialFolders =
  ".ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/git .password-store .local/share/keyrings .mozilla .config/chromium .config/google-chrome".split(
    " ",
  );

/** Folders of the data folder in which agents work: worktrees of conversations, and projects of demos. */
const openInData = [/^worktrees\/./, /^conversations\/[^/]+\/project(\/|$)/];

/** Why a wall cannot stand around this folder, as a sentence with the remedy; null if it can. `folder` is absolute and resolved. */
export function whyRefused(folder: string, { dataDir, home }: FolderPlaces): string | null {
  const remedy =
    "Choose a folder for the work alone, or switch the wall off (CONVOKE_WALL=off, --sandbox off for convoke run).";
  if (systemFolders.has(folder) || closedTrees.some((tree) => isBelow(folder, tree)))
    return `${folder} belongs to the system, so no wall can stand around it. ${remedy}`;
  if (home !== null && folder === home)
    return `${folder} is the home folder, whose keys and settings a wall hides. ${remedy}`;
  if (home !== null && isBelow(home, folder))
    return `${folder} contains the home folder ${home}, whose keys and settings a wall hides. ${remedy}`;
  const secret = credentialFolders.find((name) => {
    return home !== null && (folder === `${home}/${name}` || isBelow(folder, `${home}/${name}`));
  });
  if (secret !== undefined) return `${folder} holds credentials, which a wall hides. ${remedy}`;
  if (folder === dataDir) return `${folder} is the data folder, which a wall hides. ${remedy}`;
  const inData = isBelow(folder, dataDir) ? folder.slice(dataDir.length + 1) : "";
  const isOpen = openInData.some((pattern) => pattern.test(inData));
  if (isBelow(folder, dataDir) && !isOpen)
    return `${folder} is in the data folder, which a wall hides. ${remedy}`;
  return null;
}

/** True for everything below a folder, not for the folder itself. */
export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** The path without links, also for one that does not exist yet. */
export async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    const parent = await resolved(dirname(path));
    return `${parent === "/" ? "" : parent}${path.slice(dirname(path).length).replace(/^\/?/, "/")}`;
  }
}
