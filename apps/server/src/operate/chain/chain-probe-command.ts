import type { Finding } from "../check/finding.ts";
import { judgeFeeModel, judgeMethods } from "../probe/judge-methods.ts";
import { type EndpointFacts, probeEndpoint } from "../probe/probe-endpoint.ts";
import { expectEvm } from "./apply-settings.ts";
import { readPreset } from "./read-presets.ts";

/** Measures an endpoint of a chain and prints the facts. Returns the exit code: 1 if the service cannot use it. */
export async function chainProbeCommand({
	name,
	rpc,
	ws,
	json,
}: {
	name: string;
	rpc: string;
	ws?: string;
	json?: boolean;
}): Promise<number> {
	const { chainId, kind } = expectEvm(readPreset(name));
	const facts = await probeEndpoint({ url: rpc, chainId, webSocketUrl: ws });
	const findings = judge(facts, kind);
	if (json) {
		// Amounts of wei exceed JSON's numbers.
		console.log(
			JSON.stringify({ facts, findings }, (_, value) => (typeof value === "bigint" ? String(value) : value)),
		);
	} else {
		for (const line of linesOf(facts)) console.log(line);
		for (const { part, result, message } of findings) console.log(`${result.padEnd(5)}${part}: ${message}`);
	}
	return findings.some(({ result }) => result === "fail") ? 1 : 0;
}

function judge(facts: EndpointFacts, kind: Parameters<typeof judgeFeeModel>[1]["kind"]): Finding[] {
	return [
		...judgeMethods(facts).map((found) => ({ part: "methods", ...found })),
		{ part: "fees", ...judgeFeeModel(facts.feeModel, { kind }) },
	];
}

function linesOf({ methods, ...facts }: EndpointFacts): string[] {
	return Object.entries({ ...facts, ...methods }).map(
		([name, { value, how }]) =>
			`${name}: ${value === undefined ? "unknown" : JSON.stringify(value)} (${how})`,
	);
}
