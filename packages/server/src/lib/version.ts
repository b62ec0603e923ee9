/** The version of this program; a test holds it to the package's. */
export const version = "0.1.0";
