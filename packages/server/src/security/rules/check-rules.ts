import { maxRules, Rule } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { parseHostPattern } from "../../lib/host-pattern.ts";
import { isObject } from "../../lib/json-object.ts";
import { restElement } from "./match-command.ts";
import { isShellTool } from "./shell-call.ts";

/** What is wrong with a rule that has the right form: the field, and what to do. */
export type RuleProblem = { readonly field: keyof Rule; readonly msg: string };

/** Rules that can be read and would never do what they say; null for a sound one. */
export function ruleProblem(rule: Rule): RuleProblem | null {
  const { effect, tool, command, path, host, up_to: upTo } = rule;
  if (upTo !== undefined && effect !== "allow")
    return {
      field: "up_to",
      msg: "Only an allow has a highest risk: leave up_to out, or set effect to allow.",
    };
  if (isShellTool(tool)) {
    // A shell command names neither: such a rule would fit nothing, and look as if it did.
    if (path !== undefined)
      return {
        field: "path",
        msg: "Which files a shell command uses is not known. Name its command instead.",
      };
    if (host !== undefined)
      return {
        field: "host",
        msg: "Which hosts a shell command reaches is not known. Name its command instead, or bound the conversation's network.",
      };
  }
  if (command !== undefined) {
    if (isShellTool(tool)) return commandProblem(command, effect);
    return { field: "command", msg: `The tool ${tool} runs no shell commands. Leave command out.` };
  }
  if (path !== undefined) {
    const msg = pathProblem(path);
    if (msg !== null) return { field: "path", msg };
  }
  if (host === undefined) return null;
  const read = parseHostPattern(host, "any");
  return typeof read === "string" ? { field: "host", msg: read } : null;
}

/** Patterns that would be read as something else than they say. */
function pathProblem(path: string): string | null {
  if (/^~[^/]/u.test(path)) return "Only one's own home can be named: begin with ~/ or /.";
  if (path.startsWith("!")) return "A pattern cannot begin with !: write a rule with another effect instead.";
  if (/\{[^{}]*,[^{}]*\}/u.test(path)) return "Braces have no meaning: write a rule for each alternative.";
  if (/\*.*\/\.\.(?:\/|$)/u.test(path)) return "Put .. before the first *: a/../** and not a/*/..";
  return null;
}

function commandProblem(command: readonly string[], effect: Rule["effect"]): RuleProblem | null {
  const fail = (msg: string): RuleProblem => ({ field: "command", msg });
  const [program = ""] = command;
  if (command.slice(0, -1).includes(restElement)) return fail("** stands for the rest: put it last.");
  if (/\s/u.test(program)) return fail(`Give each word as an element of its own, not "${program}".`);
  if (effect === "allow" && (program === "*" || program === restElement))
    return fail("Begin with the program that is allowed, not with a *.");
  if (command.some((element) => element.includes("|") && element.split("|").includes("")))
    return fail("An alternative is empty: write words on both sides of |.");
  return null;
}

/** The rules of a file, with the positions that they have there, and what is wrong with the others. */
export type ReadRules = {
  readonly rules: readonly { readonly index: number; readonly rule: Rule }[];
  /** Each names the rule and its field, such as `rules.2.comand: ...`. */
  readonly problems: readonly string[];
};

/** Reads `{"rules": [...]}`. `isOfProject`: only `ask` and `deny` are taken. */
export function readRuleFile(text: string, validator: Validator, isOfProject: boolean): ReadRules {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    // The whole message quotes the text, which a link may have led to.
    const where = / at position .*$/u.exec((error as SyntaxError).message)?.[0] ?? "";
    return {
      rules: [],
      problems: [`it is not JSON${isOfProject ? where : `: ${(error as SyntaxError).message}`}`],
    };
  }
  if (!isObject(parsed) || !Array.isArray(parsed["rules"]))
    return { rules: [], problems: ['rules: Give an object with a list, as {"rules": []}.'] };
  const others = Object.keys(parsed).filter((key) => key !== "rules");
  const problems = others.map((key) => `${key}: This field is not known.`);
  const rules = (parsed["rules"] as unknown[]).slice(0, maxRules).flatMap((given, index) => {
    const checked = validator.check(Rule, given, ["rules", index]);
    if (!checked.ok) {
      problems.push(...checked.errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`));
      return [];
    }
    const rule = checked.value;
    const problem = isOfProject && rule.effect === "allow" ? projectAllows : ruleProblem(rule);
    if (problem === null) return [{ index, rule }];
    problems.push(`rules.${index}.${problem.field}: ${problem.msg}`);
    return [];
  });
  if ((parsed["rules"] as unknown[]).length > maxRules) problems.push(`rules: Give at most ${maxRules}.`);
  return { rules, problems };
}

const projectAllows: RuleProblem = {
  field: "effect",
  msg: "A project may only ask and deny. Users can allow calls in rules of their own.",
};
