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

const remedy =
  "Choose a folder for the work alone, or switch the wall off (CONVOKE_WALL=off, --sandbox off for convoke run).";

/** Why a wall cannot stand around this folder, as a sentence with the remedy; null if it can. `folder` is absolute and resolved. */
export function whyRefused(folder: string, places: FolderPlaces): string | null {
  const cause = causeOf(folder, places);
  return cause === null ? null : `${folder} ${cause.around}. ${remedy}`;
}

/** Why this folder cannot show in a wall beside the working folder, as a sentence; null if it can. `folder` is absolute and resolved. */
export function whyNotShown(folder: string, places: FolderPlaces): string | null {
  const cause = causeOf(folder, places);
  return cause === null
    ? null
    : `${folder} ${cause.what}. Name a folder below it that is for the work alone.`;
}

type Cause = { readonly what: string; readonly around: string };

function causeOf(folder: string, { dataDir, home }: FolderPlaces): Cause | null {
  if (systemFolders.has(folder) || closedTrees.some((tree) => isBelow(folder, tree)))
    return because("belongs to the system", "so no wall can stand around it");
  if (home !== null && folder === home)
    return because("is the home folder", "whose keys and settings a wall hides");
  if (home !== null && isBelow(home, folder))
    return because(`contains the home folder ${home}`, "whose keys and settings a wall hides");
  const secret = credentialFolders.find((name) => {
    return home !== null && (folder === `${home}/${name}` || isBelow(folder, `${home}/${name}`));
  });
  if (secret !== undefined) return because("holds credentials", "which a wall hides");
  if (folder === dataDir) return because("is the data folder", "which a wall hides");
  const inData = isBelow(folder, dataDir) ? folder.slice(dataDir.length + 1) : "";
  const isOpen = openInData.some((pattern) => pattern.test(inData));
  return isBelow(folder, dataDir) && !isOpen ? because("is in the data folder", "which a wall hides") : null;
}

function because(what: string, consequence: string): Cause {
  return { what, around: `${what}, ${consequence}` };
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
