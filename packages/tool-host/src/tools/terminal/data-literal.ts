/** True for text that is data in some other language's notation and no shell command: `["a"]`, `[[1]]`, `{"a": 1}`. */
export function isDataLiteral(command: string): boolean {
  return /^(?:\[\{|\["|\['|\[\[[^ \t]|\{"|\{')/.test(command.trimStart());
}
