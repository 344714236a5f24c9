/** The processes of the service, by the command that starts each. */
export const processNames = ["api", "worker", "audit", "attester", "console"] as const;
export type ProcessName = (typeof processNames)[number];
