import type { verifyAuditInPlace } from "@convoke/server/audit";

type AuditReport = Awaited<ReturnType<typeof verifyAuditInPlace>>;

/** What a check of the audit log found, for people. */
export function auditLines({ streams, breaks, remarks }: AuditReport): string[] {
  return [
    ...streams.map(({ stream, files, lines, first, last, unchained }) => {
      const range = first === null ? "no line" : `lines ${first} to ${last}`;
      const rest =
        unchained === 0 ? "" : `, ${unchained} from before lines had digests, which nothing protects`;
      return `${stream}  ${range} of ${files} files (${lines} read${rest})`;
    }),
    ...remarks.map((remark) => `note   ${placeOf(remark)} ${remark.problem}`),
    ...breaks.map((broken) => `BREAK  ${placeOf(broken)} ${broken.problem}`),
    breaks.length === 0 ? "No break was found." : "The audit log was changed.",
  ];
}

function placeOf({ file, line }: AuditReport["breaks"][number]): string {
  return line === null ? file : `${file} line ${line}`;
}
