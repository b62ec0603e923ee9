import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Names the repository that users are sent to: `package.json` of the workspace gets `address`, from which the build writes it into every
 * published manifest. Where `address` is null, the one that `package.json` has stays.
 */
export function setRepository(root: string, address: string | null): void {
  const file = path.join(root, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>;
  if (address === null) {
    if (manifest["repository"] !== undefined) return;
    throw new Error(
      "package.json names no repository, and npm proves where a package was built by it: give its address, --repository https://HOST/OWNER/NAME",
    );
  }
  if (!isAddress(address))
    throw new Error(`--repository must be an address like https://HOST/OWNER/NAME, not ${address}`);
  const { license, ...others } = manifest;
  const url = `git+${address.replace(/(?:\.git)?\/?$/, "")}.git`;
  const named = { ...others, license, repository: { type: "git", url } };
  writeFileSync(file, `${JSON.stringify(named, null, 2)}\n`);
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  const parts = pathname.split("/").filter((part) => part !== "");
  return protocol === "https:" && `${username}${password}${search}${hash}` === "" && parts.length > 1;
}
