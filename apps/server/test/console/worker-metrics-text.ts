import { solanaChainId } from "@geoswap/protocol";
import { arbitrumId, baseId } from "./console-config.ts";

const chains = [
	{ id: baseId, hosts: ["base.provider-a.example", "base.provider-b.example"], gas: 0.4812 },
	{ id: arbitrumId, hosts: ["arb.provider-a.example", "arb.provider-b.example"], gas: 0.3127 },
	{ id: solanaChainId, hosts: ["sol.provider-a.example", "sol.provider-b.example"], gas: 6.204 },
];

/** Returns the response of a worker's metrics endpoint, as far as the console reads it. */
export function workerMetricsText(): string {
	return chains
		.flatMap(({ id, hosts, gas }) => [
			...hosts.flatMap((host, i) => [
				`geoswap_node_lag_blocks{chain="${id}",host="${host}"} ${i}`,
				`geoswap_node_in_use{chain="${id}",host="${host}"} ${i === 0 ? 1 : 0}`,
			]),
			`geoswap_relayer_balance_native{chain="${id}",relayer="0x000000000000000000000000000000004e1A0001"} ${gas}`,
			`geoswap_audit_age_seconds{chain="${id}"} 74`,
			`geoswap_audit_breaches{invariant="I1",chain="${id}"} 0`,
			`geoswap_audit_owed{chain="${id}"} 0`,
			`geoswap_audit_lost_usd{chain="${id}"} 0`,
		])
		.concat("geoswap_audit_duration_seconds 3.4", "# TYPE geoswap_node_in_use gauge", "")
		.join("\n");
}
