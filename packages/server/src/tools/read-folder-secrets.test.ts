import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFolderSecrets } from "./read-folder-secrets.ts";

async function openFolder(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "convoke-env-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

test("values that look like secrets are found, words and settings are not", async () => {
  const text = [
    "OPENAI_API_KEY=sk-abcdef123456",
    'DB_PASSWORD="p4ss word 12"',
    "export JWT_SECRET='q8w7e6r5'",
    "DATABASE_URL=postgres://ada:hunter2-long@db.example/shop",
    "PASSWORD=password",
    "AUTH_MODE=disabled",
    "AUTH_URL=http://localhost:3000",
    "KEYBOARD=de-nodeadkeys",
    "PRIVATE_KEY_FILE=/etc/ssl/private/key.pem",
    "API_TOKEN=short1",
    "NODE_ENV=development",
  ].join("\n");
  await using shop = await openFolder({ ".env": text });
  const found = (await readFolderSecrets(shop.folder)).toSorted();
  expect(found).toEqual(["hunter2-long", "p4ss word 12", "q8w7e6r5", "sk-abcdef123456"]);
});

test("files for one's own machine are read, shared ones and links are not", async () => {
  const token = (value: string): string => `API_TOKEN=${value}`;
  await using shop = await openFolder({
    ".env.local": token("local-token-1"),
    ".env.production.local": token("production-token-1"),
    ".env.example": token("example-token-1"),
    ".environment": token("other-token-1"),
    outside: token("outside-token-1"),
  });
  await symlink(join(shop.folder, "outside"), join(shop.folder, ".env"));
  expect((await readFolderSecrets(shop.folder)).toSorted()).toEqual(["local-token-1", "production-token-1"]);
  expect(await readFolderSecrets(join(shop.folder, "nowhere"))).toEqual([]);
});
