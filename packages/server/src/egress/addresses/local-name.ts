/**
 * Domains of local networks: special-use names (RFC 6761, 6762, 8375), ICANN's `internal`, and what networks use without having been given
 * it (RFC 6762, appendix G).
 */
const localDomains =
  /(?:^|\.)(?:localhost|local|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid|localdomain)$/;

/** True for a name that means something in a local network only: without a dot, or below such a domain. */
export function isLocalName(host: string): boolean {
  return !/[.:]/.test(host) || localDomains.test(host);
}
