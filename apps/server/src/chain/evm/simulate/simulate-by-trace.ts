import { type Address, type Hex, type Log, numberToHex, type RpcLog } from "viem";
import { formatLog } from "viem/utils";
import type { EvmChain } from "../connect-chain.ts";
import { overridesOf } from "./call-with-codes.ts";
import type { Simulate } from "./simulation.ts";

/** A call as the tracer `callTracer` describes it, with the calls in it. */
type CallFrame = {
	gasUsed: Hex;
	output?: Hex;
	/** Set if the call failed, which also reverts everything in it. */
	error?: string;
	calls?: CallFrame[];
	/** `position` is how many of the frame's calls were made before the log; some nodes leave it out. */
	logs?: { address: Address; topics: Hex[]; data: Hex; position?: Hex }[];
};

/** Returns a function that simulates by `debug_traceCall`, whose tracer lists calls and logs. */
export function simulateByTrace({ client }: Pick<EvmChain, "client">): Simulate {
	return async ({ from, to, data, gas, codes = [], slots = [] }) => {
		const frame: CallFrame = await client.request({
			// viem does not type this method.
			method: "debug_traceCall" as never,
			params: [
				{ from, to, data, gas: numberToHex(gas) },
				"latest",
				{
					tracer: "callTracer",
					tracerConfig: { withLog: true },
					stateOverrides: overridesOf(codes, slots),
				},
			] as never,
		});
		if (frame.error !== undefined) return { succeeds: false, data: frame.output ?? "0x" };
		return { succeeds: true, gasUsed: BigInt(frame.gasUsed), logs: logsOf(frame) };
	};
}

/** Returns the logs of a call and of the calls in it, in the order of the chain, without those of failed calls. */
function logsOf(frame: CallFrame): Log[] {
	return rawLogs(frame).map(
		({ address, topics, data }, i) =>
			formatLog({ address, topics, data, logIndex: numberToHex(i) } as RpcLog) as Log,
	);
}

function rawLogs({ error, calls = [], logs = [] }: CallFrame): NonNullable<CallFrame["logs"]> {
	if (error !== undefined) return [];
	const at = (position: number) =>
		logs.filter((log) => Math.min(Number(log.position ?? calls.length), calls.length) === position);
	return [...calls.flatMap((inner, i) => [...at(i), ...rawLogs(inner)]), ...at(calls.length)];
}
