/** Size of the terminal that programs see. */
export const terminalSize = { columns: 200, rows: 50 } as const;
