/** The release of this side, for messages about mixed releases; a test compares it with the package's version. */
export const release = "0.1.0";
