import { chmod, lstat, readFile, stat, symlink, writeFile } from "node:fs/promises";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { openEditorBench } from "../../testing/editor-bench.ts";

test("tools 19.3, tools 20.3.1: the mode of a new file follows the umask", async () => {
  const bench = await openEditorBench();
  await bench.edit("create", "new.txt", { file_text: "x" });
  expect((await stat(bench.path("new.txt"))).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("tools 20.3.8: a CRLF file stays one, whatever line ends the edit uses", async () => {
  const bench = await openEditorBench({ "a.txt": "one\r\ntwo\r\nthree\r\n" });
  await bench.edit("str_replace", "a.txt", { old_str: "one\ntwo", new_str: "1\n2" });
  await bench.edit("str_replace", "a.txt", { old_str: "2\r\nthree", new_str: "2\r\n3" });
  await bench.edit("insert", "a.txt", { insert_line: 3, new_str: "4\n5" });
  expect(await bench.read("a.txt")).toBe("1\r\n2\r\n3\r\n4\r\n5\r\n");
  expect(await bench.text("view", "a.txt")).not.toContain("\r");
  for (let undone = 0; undone < 3; undone += 1) await bench.edit("undo_edit", "a.txt");
  expect(await bench.read("a.txt")).toBe("one\r\ntwo\r\nthree\r\n");
});

test("tools 20.3.8: a file with mixed line ends changes only where it is edited", async () => {
  const bench = await openEditorBench({ "a.txt": "a\r\nb\nc\r\nd\ne\nf\r" });
  await bench.edit("str_replace", "a.txt", { old_str: "c\nd", new_str: "C\nD" });
  expect(await bench.read("a.txt")).toBe("a\r\nb\nC\nD\ne\nf\r");
});

test("K20: create names a file above the path, and a broken link", async () => {
  const bench = await openEditorBench({ "a.txt": "x" });
  await symlink("nowhere", bench.path("link.txt"));
  expect(await bench.error("create", "a.txt/b", { file_text: "x" })).toContain(
    "a.txt is a file and no directory",
  );
  expect(await bench.error("create", "link.txt", { file_text: "x" })).toContain("is a link to nowhere");
});

test("K12: a file with LF stays one, whatever line ends the edit uses", async () => {
  const bench = await openEditorBench({ "a.txt": "a\nb\nc\n" });
  await bench.edit("str_replace", "a.txt", { old_str: "a\r\nb", new_str: "A\r\nB" });
  expect(await bench.read("a.txt")).toBe("A\nB\nc\n");
  await bench.edit("insert", "a.txt", { insert_line: 1, new_str: "x\r\ny" });
  expect(await bench.read("a.txt")).toBe("A\nx\ny\nB\nc\n");
  await bench.edit("insert", "a.txt", { insert_line: 0, new_str: "\r\n" });
  expect(await bench.read("a.txt")).toBe("\n\nA\nx\ny\nB\nc\n");
});

test("tools 20.3.8: byte order mark and encodings stay; a character that an encoding lacks makes the file UTF-8", async () => {
  const bench = await openEditorBench({ "bom.txt": "\ufeffone\n" });
  await bench.edit("str_replace", "bom.txt", { old_str: "one", new_str: "two" });
  expect(await bench.read("bom.txt")).toBe("\ufefftwo\n");

  const russian = "Привет мир, это текстовый файл с русским текстом.\nА это его вторая строка.\n";
  await writeFile(bench.path("cp1251.txt"), iconv.encode(russian, "windows-1251"));
  await bench.edit("insert", "cp1251.txt", { insert_line: 0, new_str: "Пока" });
  expect(iconv.decode(await readFile(bench.path("cp1251.txt")), "windows-1251")).toBe(`Пока\n${russian}`);
  expect(await bench.text("view", "cp1251.txt")).toContain("2\tПривет");

  const wide = Buffer.from("\ufeffwide\r\n", "utf16le");
  await writeFile(bench.path("utf16.txt"), wide);
  await bench.edit("str_replace", "utf16.txt", { old_str: "wide", new_str: "wider" });
  expect((await readFile(bench.path("utf16.txt"))).toString("utf16le")).toBe("\ufeffwider\r\n");

  const french =
    "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë au delà des îles.\n".replace(
      "œ",
      "oe",
    );
  await writeFile(bench.path("latin1.txt"), Buffer.from(french.repeat(8), "latin1"));
  await bench.edit("insert", "latin1.txt", { insert_line: 0, new_str: "😀" });
  expect(await bench.read("latin1.txt")).toBe(`😀\n${french.repeat(8)}`);
});

test("bytes whose encoding is unknown are never damaged", async () => {
  const bench = await openEditorBench();
  const odd = Buffer.from([0x61, 0x0a, 0xff, 0xc3, 0x28, 0x0a]);
  await writeFile(bench.path("odd.txt"), odd);
  await bench.edit("str_replace", "odd.txt", { old_str: "a", new_str: "b" });
  const edited = Buffer.from([0x62, 0x0a, 0xff, 0xc3, 0x28, 0x0a]);
  expect(await readFile(bench.path("odd.txt"))).toEqual(edited);
  expect(await bench.error("insert", "odd.txt", { insert_line: 0, new_str: "😀" })).toContain("not UTF-8");
  expect(await readFile(bench.path("odd.txt"))).toEqual(edited);
});

test("tools 19.3, tools 20.3.9: a link stays a link, its target changes; permission bits stay", async () => {
  const bench = await openEditorBench({ "target.sh": "echo one\n" });
  await chmod(bench.path("target.sh"), 0o751);
  await symlink("target.sh", bench.path("link.sh"));
  await bench.edit("str_replace", "link.sh", { old_str: "one", new_str: "two" });
  expect((await lstat(bench.path("link.sh"))).isSymbolicLink()).toBe(true);
  expect(await bench.read("target.sh")).toBe("echo two\n");
  expect((await stat(bench.path("target.sh"))).mode & 0o7777).toBe(0o751);
  await bench.edit("undo_edit", "target.sh");
  expect(await bench.read("link.sh")).toBe("echo one\n");
});
