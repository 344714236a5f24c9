import type { ChainKind, Seconds } from "@geoswap/protocol";
import { type Found, fail, ok, warn } from "../check/finding.ts";
import type { EndpointFacts } from "./probe-endpoint.ts";

/** Says what the service can and cannot do with a node, from the methods that it has. */
export function judgeMethods({
	methods,
	simulation,
}: Pick<EndpointFacts, "methods" | "simulation">): Found[] {
	const found: Found[] = [];
	const expect = (method: keyof typeof methods, judge: typeof fail, consequence: string) => {
		const { value, how } = methods[method];
		if (!value) found.push(judge(`${method} is refused (${how}): ${consequence}`));
	};
	expect("finalized", fail, "nothing counts as final. Use another node");
	expect("eth_getBlockReceipts", fail, "the books do not learn what gas cost. Use another node");
	expect("batch", fail, "the API asks several questions in one request. Use another node");
	expect("eth_feeHistory", warn, "transactions offer the smallest tip");
	if (!simulation.value) {
		const reasons = (["eth_simulateV1", "eth_call", "debug_traceCall"] as const)
			.map((method) => `${method}: ${methods[method].how}`)
			.join("; ");
		found.push(fail(`no transaction can be simulated (${reasons}): use another node`));
	} else {
		const { method, takesAuthorizations } = simulation.value;
		const delegations = takesAuthorizations ? "" : ", delegations by state override";
		found.push(ok(`transactions are simulated by ${method}${delegations}`));
	}
	return found;
}

/** Compares the fee model that was measured with the one that is configured. */
export function judgeFeeModel(
	{ value, how }: Pick<EndpointFacts["feeModel"], "value" | "how">,
	{ kind }: { kind: ChainKind },
): Found {
	if (value === undefined) return warn(`the fee model is not confirmed: ${how}`);
	if (value === kind) return ok(`the fee model is ${kind}: ${how}`);
	return fail(
		`the chain charges by the fee model ${value} (${how}), not ${kind}: correct the kind of the chain`,
	);
}

/** Compares the finality that was seen with the one that is configured. */
export function judgeFinality(
	{ value, how }: EndpointFacts["finality"],
	{ finalitySeconds }: { finalitySeconds: Seconds },
): Found {
	if (!value) return warn(`the time to finality is unknown: ${how}`);
	const seen = `the newest final block is ${value.seconds} s (${value.blocks} blocks) old`;
	return value.seconds <= finalitySeconds
		? ok(`${seen}; finalitySeconds is ${finalitySeconds}`)
		: warn(`${seen}, above finalitySeconds, which is ${finalitySeconds}: raise it if this lasts`);
}
