/** A query of a panel, and the text for each of its series. */
type Query = { expr: string; legend: string };

export type Panel = {
	title: string;
	/** The text that Grafana shows to explain the panel to an operator. */
	description: string;
	kind: "timeseries" | "stat";
	/** A unit of Grafana. */
	unit?: "s" | "percentunit" | "ops" | "currencyUSD" | "short" | "none";
	queries: readonly Query[];
	/** The panel is red at this value and above. */
	badFrom?: number;
};

export type Dashboard = {
	uid: string;
	title: string;
	rows: readonly { title: string; panels: readonly Panel[] }[];
};

const graph = (
	title: string,
	description: string,
	unit: NonNullable<Panel["unit"]>,
	...queries: [expr: string, legend: string][]
): Panel => ({
	title,
	description,
	kind: "timeseries",
	unit,
	queries: queries.map(([expr, legend]) => ({ expr, legend })),
});

const stat = (
	title: string,
	description: string,
	expr: string,
	more: Pick<Panel, "unit" | "badFrom"> = {},
): Panel => ({
	title,
	description,
	kind: "stat",
	queries: [{ expr, legend: "" }],
	...more,
});

const ended = 'to=~"settled|refunded|failed"';
const quantile = (q: number, by: string, metric: string, labels = "") =>
	`histogram_quantile(${q}, sum by (le${by}) (rate(${metric}_bucket${labels}[$__rate_interval])))`;

const overview: Dashboard = {
	uid: "geoswap-overview",
	title: "Geoswap: overview",
	rows: [
		{
			title: "Is it healthy?",
			panels: [
				stat(
					"Alerts that page",
					"Firing now. docs/observability.md has a page for each",
					'count(ALERTS{alertname=~"Geoswap.*",alertstate="firing",severity="page"}) or vector(0)',
					{ badFrom: 1 },
				),
				stat(
					"Swaps stuck",
					"Without progress for longer than their chains take",
					"sum(max by (stage) (geoswap_swaps_stuck))",
					{ badFrom: 1 },
				),
				stat(
					"Swap overdue",
					"How long the swap that has been due longest waits for a worker",
					"max(geoswap_swap_overdue_seconds)",
					{ unit: "s", badFrom: 10 },
				),
				stat(
					"Chains paused",
					"Nothing from or to them is sold",
					"sum(max by (chain) (geoswap_chain_paused))",
					{ badFrom: 1 },
				),
				stat(
					"Breaches",
					"Findings of the last audit that pause a chain",
					'sum(max by (invariant, chain) (geoswap_audit_breaches{invariant!="I13"}))',
					{ badFrom: 1 },
				),
				stat(
					"Settled share",
					"Of the swaps that ended within an hour",
					`sum(increase(geoswap_swap_moves_total{to="settled"}[1h])) / sum(increase(geoswap_swap_moves_total{${ended}}[1h]))`,
					{ unit: "percentunit" },
				),
			],
		},
		{
			title: "Swaps",
			panels: [
				graph("Swaps that end", "By how they end", "ops", [
					`sum by (to) (rate(geoswap_swap_moves_total{${ended}}[$__rate_interval]))`,
					"{{to}}",
				]),
				graph(
					"Time to settle",
					"From submit to settled",
					"s",
					[quantile(0.5, "", "geoswap_swap_duration_seconds", '{status="settled"}'), "median"],
					[quantile(0.95, "", "geoswap_swap_duration_seconds", '{status="settled"}'), "95 %"],
				),
				graph("Swaps under way", "By stage", "short", [
					"sum by (stage) (max by (stage, origin, destination) (geoswap_swaps_pending))",
					"{{stage}}",
				]),
				graph("Outputs given up", "Their inputs are refunded", "short", [
					"sum by (code) (increase(geoswap_swaps_given_up_total[1h]))",
					"{{code}}",
				]),
			],
		},
		{
			title: "The API",
			panels: [
				graph("Requests", "By result", "ops", [
					"sum by (code) (rate(geoswap_http_requests_total[$__rate_interval]))",
					"{{code}}",
				]),
				graph("Time of an answer", "95 %, by route. Status calls are held on purpose", "s", [
					quantile(0.95, ", route", "geoswap_http_request_duration_seconds"),
					"{{route}}",
				]),
				graph("Refused by limits", "By limit", "ops", [
					"sum by (reason) (rate(geoswap_rate_limited_total[$__rate_interval]))",
					"{{reason}}",
				]),
				graph("Requests in flight", "By route", "short", [
					"sum by (route) (geoswap_http_requests_in_flight)",
					"{{route}}",
				]),
			],
		},
	],
};

const chains: Dashboard = {
	uid: "geoswap-chains",
	title: "Geoswap: chains",
	rows: [
		{
			title: "Blocks",
			panels: [
				graph("Age of the newest block", "As processed. Below 0, our clock is behind", "s", [
					"max by (chain) (geoswap_follower_block_age_seconds)",
					"{{chain}}",
				]),
				graph(
					"Age of the newest final block",
					"Compare with the configured finality",
					"s",
					["max by (chain) (geoswap_follower_final_age_seconds)", "{{chain}}"],
					["max by (chain) (geoswap_chain_finality_seconds)", "{{chain}} configured"],
				),
				graph("Blocks behind attesters", "Above some blocks our nodes are behind, not the chain", "short", [
					"max by (chain) (geoswap_follower_behind_attesters_blocks)",
					"{{chain}}",
				]),
				graph("Looks of followers", "By outcome", "ops", [
					"sum by (chain, outcome) (rate(geoswap_follower_looks_total[$__rate_interval]))",
					"{{chain}} {{outcome}}",
				]),
			],
		},
		{
			title: "Nodes",
			panels: [
				graph("Nodes that rest", "1 since a node's last failure, until it answers well", "none", [
					"max by (chain, host) (geoswap_node_resting)",
					"{{chain}} {{host}}",
				]),
				graph("Calls to nodes", "By outcome", "ops", [
					"sum by (host, outcome) (rate(geoswap_node_calls_total[$__rate_interval]))",
					"{{host}} {{outcome}}",
				]),
				graph("Rests by reason", "Within ten minutes", "short", [
					"sum by (chain, host, reason) (increase(geoswap_node_rests_total[10m]))",
					"{{chain}} {{host}} {{reason}}",
				]),
				graph("Time of a call", "95 %, by chain", "s", [
					quantile(0.95, ", chain", "geoswap_rpc_call_duration_seconds"),
					"{{chain}}",
				]),
			],
		},
		{
			title: "Transactions and attesters",
			panels: [
				graph("Jobs", "By kind and state", "short", [
					"sum by (chain, kind, state) (max by (chain, kind, state) (geoswap_jobs))",
					"{{chain}} {{kind}} {{state}}",
				]),
				graph("Oldest transaction that is not final", "By chain", "s", [
					"max by (chain) (geoswap_transaction_oldest_seconds)",
					"{{chain}}",
				]),
				graph(
					"Attesters alive",
					"Below the threshold nothing is delivered",
					"none",
					["max by (chain) (geoswap_attesters_alive)", "{{chain}}"],
					["max by (chain) (geoswap_attesters_threshold)", "{{chain}} threshold"],
				),
				graph("Age of heartbeats", "By attester and chain", "s", [
					"max by (attester, chain) (geoswap_attester_heartbeat_age_seconds)",
					"{{attester}} {{chain}}",
				]),
			],
		},
		{
			title: "Prices and fees",
			panels: [
				graph("Age of prices", "Above 15 s quotes are refused", "s", [
					"max by (chain) (geoswap_price_age_seconds)",
					"{{chain}}",
				]),
				graph("Assets that are not quoted", "By reason", "none", [
					"max by (chain, token, reason) (geoswap_asset_stopped) > 0",
					"{{chain}} {{token}} {{reason}}",
				]),
				graph("Age of feeds", "By asset", "s", [
					"max by (chain, token) (geoswap_feed_age_seconds)",
					"{{chain}} {{token}}",
				]),
				graph("Base fee", "In the chain's smallest unit", "short", [
					"max by (chain) (geoswap_base_fee_wei)",
					"{{chain}}",
				]),
			],
		},
	],
};

const money: Dashboard = {
	uid: "geoswap-money",
	title: "Geoswap: money",
	rows: [
		{
			title: "Inventory",
			panels: [
				graph("Free inventory", "Held and not reserved, in whole tokens", "short", [
					"max by (chain, token) (geoswap_inventory_tokens - geoswap_inventory_reserved_tokens)",
					"{{chain}} {{token}}",
				]),
				graph("Paid out within an hour", "In whole tokens", "short", [
					"sum by (chain, token) (increase(geoswap_paid_out_tokens_total[1h]))",
					"{{chain}} {{token}}",
				]),
				graph("May still leave under the hourly cap", "In whole tokens", "short", [
					"max by (chain, token) (geoswap_inventory_outflow_tokens)",
					"{{chain}} {{token}}",
				]),
				graph("Reserved", "In whole tokens", "short", [
					"max by (chain, token) (geoswap_inventory_reserved_tokens)",
					"{{chain}} {{token}}",
				]),
			],
		},
		{
			title: "At risk",
			panels: [
				graph("Exposure", "Share of its cap that is used", "percentunit", [
					"max by (chain, kind) (geoswap_exposure_usd / geoswap_exposure_cap_usd)",
					"{{chain}} {{kind}}",
				]),
				graph("Delivered against inputs that are not ours yet", "By chain", "currencyUSD", [
					"max by (chain, kind) (geoswap_exposure_usd)",
					"{{chain}} {{kind}}",
				]),
				stat("Booked losses", "In whole tokens, ever", "sum(max by (chain, token) (geoswap_loss_tokens))", {
					badFrom: 1e-9,
				}),
				stat("Refunds owed", "They wait for wallets or issuers", "sum(max by (chain) (geoswap_audit_owed))"),
				stat(
					"Age of the last audit",
					"Of the chain that was audited longest ago",
					"max(min by (chain) (geoswap_audit_age_seconds))",
					{ unit: "s", badFrom: 900 },
				),
				stat("Vaults paused", "They pay nothing out", "sum(max by (chain) (geoswap_vault_paused))", {
					badFrom: 1,
				}),
			],
		},
		{
			title: "Gas",
			panels: [
				graph("Days of gas left", "At the spend of the last day", "short", [
					"min by (chain, relayer) (geoswap_relayer_balance_native) / (max by (chain, relayer) (geoswap_relayer_spent_native) > 0)",
					"{{chain}} {{relayer}}",
				]),
				graph("Spent within a day", "In the native token", "short", [
					"max by (chain, relayer) (geoswap_relayer_spent_native)",
					"{{chain}} {{relayer}}",
				]),
				graph("Balance of relayers", "In the native token", "short", [
					"min by (chain, relayer) (geoswap_relayer_balance_native)",
					"{{chain}} {{relayer}}",
				]),
				graph("Spent on swaps that did not settle", "Within a day, in the native token", "short", [
					"max by (chain) (geoswap_unsettled_gas_native)",
					"{{chain}}",
				]),
			],
		},
	],
};

const processes: Dashboard = {
	uid: "geoswap-processes",
	title: "Geoswap: processes",
	rows: [
		{
			title: "Workers and the engine",
			panels: [
				stat("Workers", "That report metrics", 'count(geoswap_ticks_total{outcome="done"})'),
				stat("API processes", "That report metrics", "count(geoswap_config_loaded_timestamp_seconds)"),
				graph("Ticks", "By outcome; one a second and worker", "ops", [
					"sum by (instance, outcome) (rate(geoswap_ticks_total[$__rate_interval]))",
					"{{instance}} {{outcome}}",
				]),
				graph("Work that the engine did not run", "Workers ran it themselves", "ops", [
					"sum by (object) (rate(geoswap_tick_runs_total[$__rate_interval]))",
					"{{object}}",
				]),
			],
		},
		{
			title: "What processes need",
			panels: [
				graph("Refusals of the database", "By kind", "ops", [
					"sum by (instance, kind) (rate(geoswap_database_refusals_total[$__rate_interval]))",
					"{{instance}} {{kind}}",
				]),
				graph("Redis does not answer", "Calls a second", "ops", [
					"sum by (instance) (rate(geoswap_redis_unanswered_total[$__rate_interval]))",
					"{{instance}}",
				]),
				graph("Clock ahead of the database", "Below 0 it is behind", "s", [
					"geoswap_clock_ahead_of_database_seconds",
					"{{instance}}",
				]),
				graph("Metrics that could not be read", "By reading", "ops", [
					"sum by (instance, reading) (rate(geoswap_metrics_read_failures_total[$__rate_interval]))",
					"{{instance}} {{reading}}",
				]),
			],
		},
		{
			title: "Keys",
			panels: [
				graph("Time of a signature", "95 %, by key", "s", [
					quantile(0.95, ", key, backend", "geoswap_signer_duration_seconds"),
					"{{key}} ({{backend}})",
				]),
				graph("Signatures", "By outcome", "ops", [
					"sum by (key, outcome) (rate(geoswap_signer_duration_seconds_count[$__rate_interval]))",
					"{{key}} {{outcome}}",
				]),
				graph("Networks of the most widely used API key", "Within an hour", "none", [
					"max(geoswap_api_key_networks)",
					"networks",
				]),
				stat("Age of the seal key", "Rotate it every 90 days", "max(geoswap_seal_key_age_seconds)", {
					unit: "s",
					badFrom: 7_776_000,
				}),
				graph("Caps of the remote signer", "Share that is used", "percentunit", [
					"max by (meter, window) (geoswap_signer_spent_ratio)",
					"{{meter}} {{window}}",
				]),
				stat(
					"Next certificate expires",
					"Of the remote signer and its clients",
					"min(geoswap_signer_certificate_expiry_seconds)",
					{ unit: "s" },
				),
			],
		},
	],
};

export const dashboards: Readonly<Record<string, Dashboard>> = { overview, chains, money, processes };
