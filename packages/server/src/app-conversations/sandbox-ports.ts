/** Ports on which web servers in a sandbox are expected, by the variable that tells its programs. */
export const sandboxPorts = { WORKER_1: 8011, WORKER_2: 8012 } as const;
