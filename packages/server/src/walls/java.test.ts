import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findJava, javaFiles } from "./java.ts";

test("installations of the machine, of the home and of JAVA_HOME use the way out and trust it", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "convoke-java-")));
  try {
    const [own, old] = [join(root, ".sdkman/candidates/java/21"), join(root, "java8")];
    await mkdir(join(own, "lib/security"), { recursive: true });
    await mkdir(join(own, "conf"));
    await mkdir(join(old, "jre/lib/security"), { recursive: true });
    await writeFile(join(root, "store"), "");
    await symlink(join(root, "store"), join(own, "lib/security/cacerts"));
    await writeFile(join(own, "conf/net.properties"), "https.proxyHost=elsewhere");
    await writeFile(join(old, "jre/lib/security/cacerts"), "");
    const java = await findJava(root, { JAVA_HOME: old });
    expect(java.stores).toEqual(
      expect.arrayContaining([join(root, "store"), join(old, "jre/lib/security/cacerts")]),
    );
    const files = await javaFiles(java, "");
    expect(files[join(root, "store")]).toBeInstanceOf(Buffer);
    const settings = String(files[join(own, "conf/net.properties")]).split("\n");
    expect(settings.findLast((line) => line.startsWith("https.proxyHost"))).toBe("https.proxyHost=127.0.0.1");
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test("nothing is made where there is no Java", async () => {
  expect(await javaFiles({ stores: [], networkSettings: [], settingsFolders: [] }, "")).toEqual({});
});
