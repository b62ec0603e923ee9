/** What a user or a key may do, from the least: each may do what those before it may. Apart from the schemas, which take a client 40 MB to load. */
export const userRoles = ["viewer", "member", "admin"] as const;
