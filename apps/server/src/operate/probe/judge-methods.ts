import type { ChainKind, Seconds } from "@geoswap/protocol";
import { type Found, fail, ok, warn } from "../check/finding.ts";
import type { EndpointFacts } from "./probe-endpoint.ts";

type Abilities = Pick<EndpointFacts, "methods" | "simulation">;

/**
 * Returns what the service can and cannot do with a node, according to its methods. A call that the node lacks goes
 * to another of the chain's nodes with the role `read`, if one supports it.
 */
export function judgeMethods({ methods, simulation }: Abilities, others: readonly Abilities[] = []): Found[] {
	const found: Found[] = [];
	const need = (method: keyof typeof methods, consequence: string) => {
		const { value, how } = methods[method];
		if (value) return;
		const isElsewhere = others.some((other) => other.methods[method].value);
		const refused = `${method} is refused (${how})`;
		found.push(
			isElsewhere
				? warn(`${refused}: ${askedElsewhere}`)
				: fail(`${refused}: ${consequence}. Use another node`),
		);
	};
	const prefer = (method: keyof typeof methods, consequence: string) => {
		const { value, how } = methods[method];
		if (!value) found.push(warn(`${method} is refused (${how}): ${consequence}`));
	};
	need("finalized", "nothing counts as final");
	prefer("batch", "calls go to it one by one, which takes more requests");
	prefer("eth_feeHistory", "if no node has it, transactions offer the smallest tip");
	if (simulation.value) {
		const { method, takesAuthorizations } = simulation.value;
		const delegations = takesAuthorizations ? "" : ", delegations by state override";
		found.push(ok(`transactions are simulated by ${method}${delegations}`));
		return found;
	}
	const reasons = (["eth_simulateV1", "eth_call", "debug_traceCall"] as const)
		.map((method) => `${method}: ${methods[method].how}`)
		.join("; ");
	const none = `no transaction can be simulated (${reasons})`;
	const isElsewhere = others.some((other) => other.simulation.value);
	found.push(isElsewhere ? warn(`${none}: ${askedElsewhere}`) : fail(`${none}; use another node`));
	return found;
}

const askedElsewhere = "another node of the chain has it and is used instead";

/** Compares the measured fee model with the configured one. */
export function judgeFeeModel(
	{ value, how }: Pick<EndpointFacts["feeModel"], "value" | "how">,
	{ kind }: { kind: ChainKind },
): Found {
	if (value === undefined) return warn(`the fee model is not confirmed: ${how}`);
	if (value === kind) return ok(`the fee model is ${kind}: ${how}`);
	return fail(
		`the chain charges by the fee model ${value} (${how}), not ${kind}; correct the kind of the chain`,
	);
}

/** Compares the measured finality with the configured one. */
export function judgeFinality(
	{ value, how }: EndpointFacts["finality"],
	{ finalitySeconds }: { finalitySeconds: Seconds },
): Found {
	if (!value) return warn(`the time to finality is unknown: ${how}`);
	const seen = `the newest final block is ${value.seconds} s (${value.blocks} blocks) old`;
	return value.seconds <= finalitySeconds
		? ok(`${seen}; finalitySeconds is ${finalitySeconds}`)
		: warn(`${seen}, above finalitySeconds, which is ${finalitySeconds}; raise it if this lasts`);
}
