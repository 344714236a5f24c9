/** Series and their values, one a minute, in the notation of `promtool test rules`. */
type Series = Readonly<Record<string, string>>;

/** A state in which an alert must fire, and the most similar one in which it must not. */
export type AlertCase = {
	fires: Series;
	quiet: Series;
	/** Labels of the alert, beside its name and its severity. */
	labels?: Readonly<Record<string, string>>;
	/** Minutes after which both are checked. */
	atMinutes?: number;
};

const chain = { chain: "1" };
const token = { ...chain, token: "USDC" };
/** A minute's counts of a counter that grows all the time, and of one that does not. */
const growing = "0+6x60";
const still = "5x60";

const gauge = (series: string, bad: string, good: string) => ({
	fires: { [series]: bad },
	quiet: { [series]: good },
});
const stopped = (reason: string): AlertCase => ({
	...gauge(`geoswap_asset_stopped{chain="1",token="USDC",reason="${reason}"}`, "1x60", "0x60"),
	labels: token,
});
const refused = (kind: string) => gauge(`geoswap_database_refusals_total{kind="${kind}"}`, growing, still);
const signed = (outcome: string) =>
	`geoswap_signer_duration_seconds_count{key="relayer-1",backend="remote",outcome="${outcome}"}`;
const signer = { key: "relayer-1", backend: "remote" };
const halted = {
	'geoswap_follower_block_age_seconds{chain="1"}': "0+60x60",
	'geoswap_follower_update_age_seconds{chain="1"}': "0+60x60",
	'geoswap_follower_looks_total{chain="1",outcome="ok"}': growing,
	'geoswap_follower_behind_attesters_blocks{chain="1"}': "0x60",
};
const behind = { ...halted, 'geoswap_follower_behind_attesters_blocks{chain="1"}': "0+10x60" };

/** A case for each rule of deploy/alerts.yml. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
	GeoswapSwapsStuck: {
		...gauge('geoswap_swaps_stuck{stage="opening"}', "2x60", "0x60"),
		labels: { stage: "opening" },
	},
	GeoswapSwapsOverdue: gauge("geoswap_swap_overdue_seconds", "11x60", "9x60"),
	GeoswapRefundsMany: {
		fires: {
			'geoswap_swap_moves_total{origin="2",destination="1",to="refunded"}': "0+1x60",
			'geoswap_swap_moves_total{origin="2",destination="1",to="settled"}': "0+8x60",
		},
		quiet: {
			'geoswap_swap_moves_total{origin="2",destination="1",to="refunded"}': "0+1x60",
			'geoswap_swap_moves_total{origin="2",destination="1",to="settled"}': "0+10x60",
		},
		labels: { ...chain, destination: "1" },
	},
	GeoswapRecipientsRefuse: {
		...gauge('geoswap_swaps_given_up_total{destination="1",code="RECIPIENT_REFUSED"}', "0x20 1x40", "3x60"),
		labels: { ...chain, destination: "1" },
	},
	GeoswapDenyListSilent: gauge('geoswap_deny_lookups_total{outcome="failed"}', growing, still),
	GeoswapRefundOwed: { ...gauge('geoswap_audit_owed{chain="1"}', "1x60", "0x60"), labels: chain },
	GeoswapTransactionsWait: {
		...gauge('geoswap_job_oldest_seconds{chain="1",kind="fill",state="queued"}', "121x60", "119x60"),
		labels: { ...chain, kind: "fill" },
	},
	GeoswapLossBooked: {
		...gauge('geoswap_loss_tokens{chain="1",token="USDC"}', "7x20 47x40", "7x60"),
		labels: token,
	},
	GeoswapBooksBreached: {
		fires: { 'geoswap_audit_breaches{chain="1",invariant="I1"}': "1x60" },
		quiet: {
			'geoswap_audit_breaches{chain="1",invariant="I1"}': "0x60",
			'geoswap_audit_breaches{chain="1",invariant="I13"}': "4x60",
			'geoswap_audit_breaches{chain="1",invariant="T1"}': "1x60",
		},
		labels: { ...chain, invariant: "I1" },
	},
	GeoswapUndeclaredWithdrawal: {
		...gauge('geoswap_audit_breaches{chain="1",invariant="T1"}', "1x60", "0x60"),
		labels: chain,
	},
	GeoswapUnknownMove: {
		...gauge('geoswap_audit_breaches{chain="1",invariant="T2"}', "1x60", "0x60"),
		labels: chain,
	},
	GeoswapRelayerShort: {
		fires: {
			'geoswap_audit_breaches{chain="1",invariant="T3"}': "0x60",
			'geoswap_audit_notices{chain="1",invariant="T3"}': "1x60",
		},
		quiet: {
			'geoswap_audit_breaches{chain="1",invariant="T3"}': "0x60",
			'geoswap_audit_notices{chain="1",invariant="T3"}': "0x60",
		},
		labels: chain,
	},
	GeoswapBridgeDoesNotClose: {
		fires: {
			'geoswap_audit_breaches{chain="1",invariant="T4"}': "0x60",
			'geoswap_audit_notices{chain="1",invariant="T4"}': "1x60",
		},
		quiet: {
			'geoswap_audit_breaches{chain="1",invariant="T4"}': "0x60",
			'geoswap_audit_notices{chain="1",invariant="T4"}': "0x60",
		},
		labels: chain,
	},
	GeoswapMoveStuck: {
		fires: {
			'geoswap_treasury_moves_stuck{chain="1"}': "0x60",
			'geoswap_treasury_move_late_seconds{chain="1"}': "1801x60",
		},
		quiet: {
			'geoswap_treasury_moves_stuck{chain="1"}': "0x60",
			'geoswap_treasury_move_late_seconds{chain="1"}': "1799x60",
		},
		labels: chain,
	},
	GeoswapTradeRefused: {
		...gauge('geoswap_treasury_moves_failed{chain="1"}', "1x60", "0x60"),
		labels: chain,
	},
	GeoswapDayDoesNotClose: {
		fires: {
			'geoswap_audit_breaches{chain="1",invariant="I19"}': "0x60",
			'geoswap_audit_notices{chain="1",invariant="I19"}': "1x60",
		},
		quiet: {
			'geoswap_audit_breaches{chain="1",invariant="I19"}': "0x60",
			'geoswap_audit_notices{chain="1",invariant="I19"}': "0x60",
		},
		labels: chain,
	},
	GeoswapNotAudited: {
		...gauge('geoswap_audit_age_seconds{chain="1"}', "901x60", "899x60"),
		labels: chain,
	},
	GeoswapPaymentsStopped: {
		fires: { 'geoswap_payments_stopped_total{chain="1",problem="wrong-order"}': "0x25 1x35" },
		quiet: {
			'geoswap_payments_stopped_total{chain="1",problem="wrong-order"}': "1x60",
			'geoswap_payments_stopped_total{chain="1",problem="not-deep"}': growing,
		},
		labels: { ...chain, problem: "wrong-order" },
	},
	GeoswapInventoryEmpty: {
		fires: {
			'geoswap_inventory_tokens{chain="1",token="USDC"}': "100x60",
			'geoswap_inventory_reserved_tokens{chain="1",token="USDC"}': "100x60",
			'geoswap_paid_out_tokens_total{chain="1",token="USDC"}': "5x60",
		},
		quiet: {
			'geoswap_inventory_tokens{chain="1",token="USDC"}': "100x60",
			'geoswap_inventory_reserved_tokens{chain="1",token="USDC"}': "0x60",
			'geoswap_paid_out_tokens_total{chain="1",token="USDC"}': "0+6x60",
			// A token that is bought when it is needed requires no inventory.
			'geoswap_inventory_tokens{chain="1",token="WETH"}': "0x60",
			'geoswap_inventory_reserved_tokens{chain="1",token="WETH"}': "0x60",
		},
		labels: token,
	},
	GeoswapInventoryLow: {
		fires: {
			'geoswap_inventory_tokens{chain="1",token="USDC"}': "100x60",
			'geoswap_inventory_reserved_tokens{chain="1",token="USDC"}': "10x60",
			'geoswap_paid_out_tokens_total{chain="1",token="USDC"}': "0+4x60",
		},
		quiet: {
			'geoswap_inventory_tokens{chain="1",token="USDC"}': "100x60",
			'geoswap_inventory_reserved_tokens{chain="1",token="USDC"}': "10x60",
			'geoswap_paid_out_tokens_total{chain="1",token="USDC"}': "0+1x60",
		},
		labels: token,
		atMinutes: 50,
	},
	GeoswapOutflowNearCap: {
		...gauge('geoswap_inventory_outflow_tokens{chain="1",token="USDC"}', "1000x20 150x40", "1000x20 250x40"),
		labels: token,
	},
	GeoswapExposureFull: {
		fires: {
			'geoswap_exposure_usd{chain="1",kind="unfinal"}': "81x60",
			'geoswap_exposure_cap_usd{chain="1",kind="unfinal"}': "100x60",
		},
		quiet: {
			'geoswap_exposure_usd{chain="1",kind="unfinal"}': "79x60",
			'geoswap_exposure_cap_usd{chain="1",kind="unfinal"}': "100x60",
		},
		labels: { ...chain, kind: "unfinal" },
	},
	GeoswapVaultPaused: { ...gauge('geoswap_vault_paused{chain="1"}', "1x60", "0x60"), labels: chain },
	GeoswapRelayerGasLow: relayer({ balance: "2.9x60", spent: "1x60" }, { balance: "3.1x60", spent: "1x60" }),
	// A relayer that has spent nothing never runs out, unless it has nothing.
	GeoswapRelayerEmpty: relayer({ balance: "0x60", spent: "0x60" }, { balance: "0.17x60", spent: "1x60" }),
	GeoswapGasPriceHigh: {
		...gauge('geoswap_base_fee_wei{chain="1"}', "100x20 600x40", "100x20 400x40"),
		labels: chain,
	},
	GeoswapChainPaused: paused("breach", "operator"),
	GeoswapFinalityBroken: paused("finality", "breach"),
	GeoswapPauseForgotten: { ...paused("operator", "breach"), atMinutes: 70 },
	GeoswapNodesDown: {
		fires: {
			'geoswap_node_resting{chain="1",host="a"}': "1x60",
			'geoswap_node_resting{chain="1",host="b"}': "1x60",
		},
		quiet: {
			'geoswap_node_resting{chain="1",host="a"}': "1x60",
			'geoswap_node_resting{chain="1",host="b"}': "0x60",
		},
		labels: chain,
	},
	GeoswapNodeFails: {
		fires: {
			'geoswap_node_calls_total{chain="1",host="a",outcome="failed"}': "0+6x60",
			'geoswap_node_calls_total{chain="1",host="a",outcome="ok"}': "0+5x60",
		},
		quiet: {
			'geoswap_node_calls_total{chain="1",host="a",outcome="failed"}': "0+5x60",
			'geoswap_node_calls_total{chain="1",host="a",outcome="ok"}': "0+6x60",
		},
		labels: { ...chain, host: "a" },
	},
	GeoswapNodeLimits: {
		...gauge('geoswap_node_rests_total{chain="1",host="a",reason="limits"}', "0+1x60", "0x25 2x35"),
		labels: { ...chain, host: "a" },
	},
	GeoswapNodeContradicts: {
		fires: { 'geoswap_node_rests_total{chain="1",host="a",reason="contradicts"}': "0x25 1x35" },
		quiet: {
			'geoswap_node_rests_total{chain="1",host="a",reason="contradicts"}': "1x60",
			'geoswap_node_rests_total{chain="1",host="a",reason="slow"}': growing,
		},
		labels: { ...chain, host: "a" },
	},
	GeoswapProvidersDiffer: {
		fires: { 'geoswap_second_provider_answers_total{chain="1",word="differs"}': growing },
		quiet: {
			'geoswap_second_provider_answers_total{chain="1",word="differs"}': "0x27 3x33",
			'geoswap_second_provider_answers_total{chain="1",word="agrees"}': growing,
		},
		labels: chain,
	},
	GeoswapSecondProviderSilent: {
		...gauge('geoswap_second_provider_answers_total{chain="1",word="silent"}', growing, still),
		labels: chain,
	},
	GeoswapChainHalted: { fires: halted, quiet: behind, labels: chain },
	GeoswapFollowerBehind: { fires: behind, quiet: halted, labels: chain },
	GeoswapBlockUnread: {
		...gauge('geoswap_follower_unread_block{chain="1"}', "0x2 7x60", "0x60"),
		labels: chain,
	},
	GeoswapFinalityStalled: {
		fires: {
			'geoswap_follower_final_age_seconds{chain="1"}': "0+60x60",
			'geoswap_chain_finality_seconds{chain="1"}': "100x60",
			'geoswap_follower_block_age_seconds{chain="1"}': "2x60",
		},
		quiet: {
			'geoswap_follower_final_age_seconds{chain="1"}': "350x60",
			'geoswap_chain_finality_seconds{chain="1"}': "100x60",
			'geoswap_follower_block_age_seconds{chain="1"}': "2x60",
		},
		labels: chain,
	},
	GeoswapRpcErrors: {
		fires: {
			'geoswap_rpc_calls_total{chain="1",instance="i",outcome="failed"}': "0+6x60",
			'geoswap_rpc_calls_total{chain="1",instance="i",outcome="ok"}': "0+100x60",
		},
		quiet: {
			'geoswap_rpc_calls_total{chain="1",instance="i",outcome="failed"}': "0+5x60",
			'geoswap_rpc_calls_total{chain="1",instance="i",outcome="ok"}': "0+100x60",
		},
		labels: { ...chain, instance: "i" },
	},
	GeoswapPricesOld: { ...gauge('geoswap_price_age_seconds{chain="1"}', "61x60", "59x60"), labels: chain },
	GeoswapFeedOld: stopped("reference-stale"),
	GeoswapReferencesDiffer: stopped("references-differ"),
	GeoswapPoolsApart: stopped("pools-disagree"),
	GeoswapSequencerDown: stopped("sequencer-down"),
	GeoswapAttestersTooFew: {
		fires: {
			'geoswap_attesters_alive{chain="1"}': "1x60",
			'geoswap_attesters_threshold{chain="1"}': "2x60",
		},
		quiet: {
			'geoswap_attesters_alive{chain="1"}': "2x60",
			'geoswap_attesters_threshold{chain="1"}': "2x60",
		},
		labels: chain,
	},
	GeoswapAttesterSilent: {
		...gauge('geoswap_attester_heartbeat_age_seconds{attester="0xa",chain="1"}', "301x60", "299x60"),
		labels: { ...chain, attester: "0xa" },
	},
	GeoswapSignerFails: { ...gauge(signed("timeout"), growing, "0x28 2x32"), labels: signer },
	// The series appears with the first refusal.
	GeoswapSignerRefuses: { ...gauge(signed("refused"), "_x25 1x35", "1x60"), labels: signer },
	GeoswapSignerSlow: {
		fires: signerBuckets({ withinSecond: "0+1x60", all: "0+10x60" }),
		quiet: signerBuckets({ withinSecond: "0+10x60", all: "0+10x60" }),
		labels: signer,
	},
	GeoswapSignerNearCap: {
		...gauge('geoswap_signer_spent_ratio{meter="fees",window="day"}', "0.81x60", "0.79x60"),
		labels: { meter: "fees", window: "day" },
	},
	GeoswapCertificateExpires: {
		...gauge('geoswap_signer_certificate_expiry_seconds{certificate="c"}', "1209599x60", "1209601x60"),
		labels: { certificate: "c" },
	},
	GeoswapNoWorker: { fires: {}, quiet: { 'geoswap_ticks_total{outcome="done"}': growing } },
	GeoswapNoApi: { fires: {}, quiet: { geoswap_config_loaded_timestamp_seconds: "1x60" } },
	GeoswapDatabaseSilent: {
		fires: {
			'geoswap_ticks_total{outcome="failed"}': growing,
			'geoswap_ticks_total{outcome="done"}': still,
		},
		// One worker of two has lost its connection.
		quiet: {
			'geoswap_ticks_total{outcome="failed",instance="a"}': growing,
			'geoswap_ticks_total{outcome="done",instance="b"}': growing,
		},
	},
	GeoswapDatabaseReadOnly: refused("read-only"),
	GeoswapDatabaseFull: refused("full"),
	GeoswapDatabaseCrowded: {
		...gauge('geoswap_database_refusals_total{kind="crowded",instance="i"}', growing, still),
		labels: { instance: "i" },
	},
	GeoswapEngineDoesNotRun: {
		...gauge('geoswap_tick_runs_total{object="round"}', "0+20x60", "0+5x60"),
		labels: { object: "round" },
	},
	GeoswapClockSkewed: {
		fires: { 'geoswap_clock_ahead_of_database_seconds{instance="i"}': "-30x60" },
		quiet: {
			'geoswap_clock_ahead_of_database_seconds{instance="i"}': "3x60",
			'geoswap_follower_block_age_seconds{instance="i",chain="1"}': "-3x60",
		},
		labels: { instance: "i" },
	},
	GeoswapMetricsUnread: {
		...gauge('geoswap_metrics_read_failures_total{instance="i",reading="database"}', growing, still),
		labels: { instance: "i", reading: "database" },
	},
	GeoswapServerErrors: {
		fires: {
			'geoswap_http_requests_total{status="503"}': "0+2x60",
			'geoswap_http_requests_total{status="200"}': "0+100x60",
		},
		quiet: {
			'geoswap_http_requests_total{status="503"}': "0+1x60",
			'geoswap_http_requests_total{status="429"}': "0+200x60",
		},
	},
	GeoswapRedisSilent: {
		...gauge('geoswap_redis_unanswered_total{instance="i"}', growing, still),
		labels: { instance: "i" },
	},
	GeoswapKeysGuessed: gauge('geoswap_http_requests_total{code="UNAUTHORIZED"}', "0+66x60", "0+54x60"),
	GeoswapApiKeyShared: {
		...gauge("geoswap_api_key_networks", "2x70 12x30", "6x70 12x30"),
		atMinutes: 80,
	},
	GeoswapSignerDefers: { ...gauge(signed("deferred"), growing, still), labels: signer },
	GeoswapSigningKeyOld: {
		...gauge('geoswap_signing_key_age_seconds{use="vault",address="A"}', "31536001x60", "31535999x60"),
		labels: { use: "vault", address: "A" },
	},
	GeoswapSealKeyOld: gauge("geoswap_seal_key_age_seconds", "7776001x60", "7775999x60"),
};

type Funds = { balance: string; spent: string };

function relayer(bad: Funds, good: Funds): AlertCase {
	const series = ({ balance, spent }: Funds) => ({
		'geoswap_relayer_balance_native{chain="1",relayer="0xb"}': balance,
		'geoswap_relayer_spent_native{chain="1",relayer="0xb"}': spent,
	});
	return { fires: series(bad), quiet: series(good), labels: { ...chain, relayer: "0xb" } };
}

function paused(cause: string, other: string): AlertCase {
	const series = (set: string, unset: string) => ({
		[`geoswap_chain_paused{chain="1",cause="${set}"}`]: "1x90",
		[`geoswap_chain_paused{chain="1",cause="${unset}"}`]: "0x90",
	});
	return { fires: series(cause, other), quiet: series(other, cause), labels: chain };
}

function signerBuckets({ withinSecond, all }: { withinSecond: string; all: string }): Series {
	const bucket = (le: string) =>
		`geoswap_signer_duration_seconds_bucket{key="relayer-1",backend="remote",outcome="ok",le="${le}"}`;
	return {
		[bucket("0.5")]: withinSecond,
		[bucket("1")]: withinSecond,
		[bucket("5")]: all,
		[bucket("+Inf")]: all,
	};
}
