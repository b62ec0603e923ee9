import { expect, test } from "vitest";
import { fetchCommand, folderNameOf, hasSecret, repositoryOf } from "./fetch-repository.ts";

test.each([
  ["https://example.org/team/project.git", "project"],
  [" ssh://git@example.org:2222/project ", "project"],
  ["git@example.org:team/project.git", "project"],
  ["git@example.org:project.git", "project"],
  ["file:///srv/project/", "project"],
  ["https://example.org/a%20b?c", "a-20b-c"],
])("%s is an address, and its folder %s", (text, name) => {
  const address = repositoryOf(text);
  expect(address).toBe(text.trim());
  expect(folderNameOf(address!)).toBe(name);
});

test.each(["", "/home/me/project", "project", "~/project", "C:\\project", "a b@c:d e", "https://"])(
  "%j is a folder",
  (text) => expect(repositoryOf(text)).toBeNull(),
);

test("an address that brings a password or a token is known", () => {
  expect(hasSecret("https://me:word@example.org/a")).toBe(true);
  expect(hasSecret("https://token@example.org/a")).toBe(true);
  expect(hasSecret("https://example.org/a")).toBe(false);
  expect(hasSecret("ssh://git@example.org/a")).toBe(false);
  expect(hasSecret("git@example.org:a")).toBe(false);
});

test("nothing of an address or a folder is read by the shell", () => {
  const command = fetchCommand("https://example.org/$(id)';touch x;'", "/srv/it's");
  expect(command).toContain(`address='https://example.org/$(id)'\\'';touch x;'\\'''`);
  expect(command).toContain(`base='/srv/it'\\''s'`);
  expect(command).toContain("name='--id---touch-x--'");
});
