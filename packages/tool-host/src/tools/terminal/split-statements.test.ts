import { describe, expect, test } from "vitest";
import { splitStatements } from "./split-statements.ts";

const single: [string, string][] = [
  ["one command", "ls -la"],
  ["joined by ; && || | &", "a; b && c || d | e & f"],
  ["blank lines around", "\n\n ls \n\n"],
  ["heredoc", "cat <<EOF\nls\npwd\nEOF"],
  ["heredoc with quoted end", "cat <<'E O'\n$(\n\"\nE O"],
  ["heredoc with tabs", "cat <<-EOF\n\tx\n\tEOF"],
  ["two heredocs", "cat <<A <<B\n1\nA\n2\nB"],
  ["heredoc into a pipe", "cat <<EOF | wc\nx\nEOF"],
  ["heredoc without end", "cat <<EOF\nls\npwd"],
  ["for loop", "for i in 1 2; do\n  echo $i\ndone"],
  ["arithmetic for", "for ((i = 0; i < 3; i++))\ndo\n echo $i\ndone"],
  ["while loop with redirect", "while read -r x\ndo echo $x\ndone < file"],
  ["if", "if true\nthen\n echo a\nelif false; then :\nelse\n echo b\nfi"],
  ["case", "case $x in\n a) echo 1;;\n (b|c)\n  echo 2\n ;;\n *) ;;\nesac"],
  ["function", "f() {\n echo hi\n}"],
  ["function, brace on the next line", "f()\n{\n echo hi\n}"],
  ["function keyword", "function f\n{\n echo hi\n}"],
  ["group and subshell", "{\n a\n b\n}"],
  ["subshell", "(\n a\n b\n)"],
  ["line continuation", "ls \\\n -l \\\n /"],
  ["operator at the end of a line", "a &&\nb ||\n c |\n d"],
  ["operator, then a comment", "a && # why\nb"],
  ["single quotes", "echo 'a\nb'"],
  ["double quotes", 'echo "a\nb $(echo "c\nd") \\" e\n"'],
  ["ANSI quotes", "echo $'a\\'\nb'"],
  ["backquotes", "echo `ls\npwd`"],
  ["command substitution", "x=$(\n ls\n pwd\n)"],
  ["parameter expansion", "echo ${x:-a\nb}"],
  ["array", "a=(\n 1\n 2\n)"],
  ["arithmetic command", "(( x = 1 +\n 2 ))"],
  ["test over lines", "[[ -f a &&\n -f b ]]"],
  ["process substitution", "diff <(\n a\n) <(\n b\n)"],
  ["comment before", "# about\nls"],
  ["comment after", "ls\n# about\n# more"],
  ["unclosed quote", "echo 'a\nb"],
  ["unclosed brace", "{ a\nb"],
  ["unopened bracket", "a )\nb"],
  ["reserved words as arguments", "echo if then {\\\n done"],
  ["herestring", "cat <<< 'a\nb'"],
];

describe("tools 20.2.9: one statement", () => {
  test.each(single)("%s", (_name, script) => {
    expect(splitStatements(script)).toEqual([script.trim()]);
  });

  test("nothing at all", () => {
    expect(splitStatements(" \n ")).toEqual([]);
  });
});

const several: [string, string, string[]][] = [
  ["two commands", "ls\npwd", ["ls", "pwd"]],
  ["after a semicolon", "ls;\npwd", ["ls;", "pwd"]],
  ["after a background mark", "sleep 1 &\npwd", ["sleep 1 &", "pwd"]],
  ["comments stay with the statement before", "ls # x\n# y\npwd", ["ls # x\n# y", "pwd"]],
  ["after a heredoc", "cat <<EOF\nx y\nEOF\npwd", ["cat <<EOF\nx y\nEOF", "pwd"]],
  ["after a loop", "for i in 1; do\n a\ndone\npwd", ["for i in 1; do\n a\ndone", "pwd"]],
  ["after a function", "f() {\n a\n}\nf", ["f() {\n a\n}", "f"]],
  ["after a case", "case a in\n a) b;;\nesac\nc", ["case a in\n a) b;;\nesac", "c"]],
  ["after a multi-line quote", "echo 'a\nb'\npwd", ["echo 'a\nb'", "pwd"]],
  ["assignments", "a=1\nb=(2 3)\necho $a", ["a=1", "b=(2 3)", "echo $a"]],
  ["redirections", "a > x 2>&1\nb &> y", ["a > x 2>&1", "b &> y"]],
  ["words that look reserved", "echo done\necho fi }\necho {a,b}", ["echo done", "echo fi }", "echo {a,b}"]],
  ["a hash inside a word", "echo a#b $# ${#x}\nls", ["echo a#b $# ${#x}", "ls"]],
  ["Windows line ends", "ls\r\npwd", ["ls", "pwd"]],
];

describe("tools 20.2.9: several statements", () => {
  test.each(several)("%s", (_name, script, statements) => {
    expect(splitStatements(script)).toEqual(statements);
  });
});
