/** The release that this side is of, for messages about mixed releases; a test holds it to the package's. */
export const release = "0.1.0";
