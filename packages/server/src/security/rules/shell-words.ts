import type { ArithmeticExpression, SyntaxNode, Word, WordPart } from "unbash";

/** The text of a word after the shell has read it; null when it is only known when it runs. */
export function literalOf(word: Word): string | null {
  // An unquoted tilde stands for a folder.
  if (word.text.startsWith("~")) return null;
  if (word.parts === undefined)
    return /[$`]/u.test(word.value) && word.value === word.text ? null : word.value;
  return joinedLiteral(word.parts);
}

function joinedLiteral(parts: readonly WordPart[]): string | null {
  const texts = parts.map((part): string | null => {
    if (part.type === "Literal" || part.type === "SingleQuoted" || part.type === "AnsiCQuoted")
      return part.value;
    return part.type === "DoubleQuoted" ? joinedLiteral(part.parts) : null;
  });
  return texts.includes(null) ? null : texts.join("");
}

/** Parameter expansions that only insert text. Others set variables, or evaluate a text that may have commands in it. */
const plainOperations = new Set(["Default", "Remove", "Replace", "CaseModification"]);

/** Kinds of nodes that are read elsewhere, or have nothing in them but their children. */
const harmless = new Set([
  "Script",
  "Statement",
  "CompoundList",
  "CaseItem",
  "Elif",
  "Command",
  "If",
  "For",
  "Select",
  "While",
  "Subshell",
  "BraceGroup",
  "Case",
  "TestCommand",
  "Redirected",
  "Function",
  "Pipeline",
  "Time",
  "Negation",
  "AndOr",
  "Word",
  "Literal",
  "Glob",
  "SingleQuoted",
  "DoubleQuoted",
  "AnsiCQuoted",
  "SimpleExpansion",
  "BraceExpansion",
  "ArrayValue",
  "Redirect",
  "HereString",
  "FileDescriptor",
  "HereDocDelimiter",
  "HereDocBody",
  "ArithmeticBinary",
  "ArithmeticUnary",
  "ArithmeticTernary",
  "ArithmeticGroup",
  "TestLogical",
  "TestNot",
  "TestGroup",
  "Default",
  "Remove",
  "Replace",
  "Slice",
  "CaseModification",
  "Transform",
  "Names",
]);

/** Why a node makes the text around it unreadable; null for one that does not. Kinds that are not known do. */
export function wordProblem(node: SyntaxNode): string | null {
  switch (node.type) {
    case "CommandExpansion":
    case "ProcessSubstitution":
      return node.script === undefined ? "a substitution could not be read" : null;
    case "ArithmeticExpansion":
    case "ArithmeticCommand":
    case "ArithmeticFor":
      return hasExpression(node) ? null : "an arithmetic expression could not be read";
    case "ArithmeticWord":
      // The value of a name is evaluated again, and may have a command in a subscript.
      return /^(?:\d+|0[xX][0-9a-fA-F]+)$/u.test(node.value)
        ? null
        : "arithmetic with variables can run commands";
    case "ParameterExpansion": {
      const { prefix, index, operation } = node;
      if (prefix === "!") return "an indirect variable can run commands";
      if (index !== undefined && !/^(?:\d+|[@*])$/u.test(index.text)) return "a subscript can run commands";
      if (operation === undefined) return null;
      if (operation.type === "Slice")
        return [operation.offset, operation.length].every(
          (word) => word === undefined || /^ ?-?\d+$/u.test(word.text),
        )
          ? null
          : "arithmetic with variables can run commands";
      if (!plainOperations.has(operation.type)) return "an expansion can run commands";
      return operation.type === "Default" && operation.operator.includes("=")
        ? "an expansion sets a variable"
        : null;
    }
    case "Assignment":
      return node.index === undefined ? null : "a subscript can run commands";
    case "FileDescriptorVariable":
      return "a redirection sets a variable";
    case "HereDoc":
      return node.closing === undefined ? "a here-document has no end" : null;
    case "TestUnary":
      return ["-v", "-R"].includes(node.operator) ? "a test can evaluate a subscript" : null;
    case "TestBinary":
      return /^-(?:eq|ne|lt|le|gt|ge)$/u.test(node.operator)
        ? "arithmetic with variables can run commands"
        : null;
    case "ExtendedGlob":
      return "an extended pattern is read in two ways";
    case "Coproc":
      return "it starts a coprocess";
    case "LocaleString":
      return "a translated text is only known when it runs";
    default:
      return harmless.has(node.type) ? null : `${node.type} is not known`;
  }
}

function hasExpression(
  node: Extract<SyntaxNode, { type: `Arithmetic${"Expansion" | "Command" | "For"}` }>,
): boolean {
  if (node.type === "ArithmeticFor") return true;
  const { expression }: { readonly expression: ArithmeticExpression | undefined } = node;
  return expression !== undefined;
}
