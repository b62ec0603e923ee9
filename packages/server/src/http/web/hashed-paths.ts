/** The folder of files with a hash of their contents in their names. */
export const hashedPaths = /^\/assets\//;
