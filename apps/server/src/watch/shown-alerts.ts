/**
 * The alerts that the console shows as problems: how urgent each is, and its limit. The rule in deploy/alerts.yml has the
 * same severity and contains the same number, which a test compares.
 */
export const shownAlerts = {
	GeoswapAttesterSilent: { severity: "ticket" },
	GeoswapAttestersTooFew: { severity: "page" },
	GeoswapBlockUnread: { severity: "page" },
	GeoswapBooksBreached: { severity: "page" },
	GeoswapChainPaused: { severity: "page" },
	/** Share of a cap. */
	GeoswapExposureFull: { severity: "ticket", limit: 0.8 },
	GeoswapFinalityBroken: { severity: "page" },
	/** Seconds since the newest block. */
	GeoswapFollowerBehind: { severity: "page", limit: 120 },
	GeoswapInventoryEmpty: { severity: "page" },
	GeoswapMetricsUnread: { severity: "ticket" },
	GeoswapNodesDown: { severity: "page" },
	/** Seconds since the last audit. */
	GeoswapNotAudited: { severity: "page", limit: 900 },
	GeoswapOutflowNearCap: { severity: "page" },
	/** The gas that is left lasts for a day divided by this. */
	GeoswapRelayerEmpty: { severity: "page", limit: 6 },
	/** Days that the gas that is left lasts. */
	GeoswapRelayerGasLow: { severity: "ticket", limit: 3 },
	/** Seconds for which a swap is due. */
	GeoswapSwapsOverdue: { severity: "page", limit: 10 },
	GeoswapSwapsStuck: { severity: "page" },
	/** Seconds for which a transaction waits for its lane. */
	GeoswapTransactionsWait: { severity: "page", limit: 120 },
} as const satisfies Record<string, { severity: "page" | "ticket"; limit?: number }>;

export type ShownAlert = keyof typeof shownAlerts;
