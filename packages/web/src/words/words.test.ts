import { expect, test } from "vitest";
import { userRoles } from "@convoke/protocol";
import { laterWords, readWords } from "./read-words.ts";

test("words that come later are read once, in the language of the page", async () => {
  const read = laterWords("de-AT", (load) => load());
  expect(read()).toBe(read());
  expect((await read()).keys.title).toBe("Tastenkürzel");
  expect((await readWords("de")).status.working).not.toBe((await readWords("fr")).status.working);
  expect((await laterWords("fr", (load) => load())()).keys.title).toBe("Keyboard shortcuts");
});

test("each role of a key has a name in each language", async () => {
  const rolesIn = async (language: string): Promise<string[]> => {
    const { roles } = (await laterWords(language, (load) => load())()).settings.keys;
    return userRoles.map((role) => roles[role]);
  };
  expect(await rolesIn("de")).toEqual(["nur Lesen", "Mitglied", "Admin"]);
  expect(await rolesIn("en")).toEqual([...userRoles]);
});

test("what changed in a conversation is named in German", async () => {
  const { note } = await readWords("de");
  expect(note.setting("confirmation_policy")).toBe("Geändert: Freigaben");
  expect(note.setting("some_other")).toBe("Geändert: some other");
  expect(note.goal("complete")).toBe("Ziel: erreicht");
});
