import { authorizationSigner } from "@geoswap/keys/signature/authorization-signer";
import {
	type Address,
	BaseError,
	concat,
	type Hex,
	HttpRequestError,
	type Log,
	numberToHex,
	type RpcLog,
	RpcRequestError,
	type SignedAuthorization,
	type StateOverride,
	toHex,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { formatLog } from "viem/utils";
import type { EvmChain } from "../connect-chain.ts";
import { delegationPrefix } from "../wallet/wallet-delegation.ts";
import { callWithCodes, overridesOf, simulateByCall } from "./simulate-by-call.ts";
import type { AccountCode, AccountSlot, Simulate, Simulation } from "./simulation.ts";

type Node = Pick<EvmChain, "chainId" | "client">;

/** The methods that a transaction can be simulated by, the best first. */
export const simulationMethods = ["eth_simulateV1", "eth_call", "debug_traceCall"] as const;
export type SimulationMethod = (typeof simulationMethods)[number];

/** How a node simulates, as found by probing it. */
export type Simulator = {
	method: SimulationMethod;
	/** False if the node leaves authorizations (EIP-7702) out, so that delegations are set as state overrides. */
	takesAuthorizations: boolean;
	/** The better methods, and why they cannot be used on this node. */
	refused: { method: SimulationMethod; reason: string }[];
	simulate: Simulate;
};

/** Returns the best way to simulate on a node. Throws if there is none, or if the node does not answer at all. */
export async function findSimulator(node: Node): Promise<Simulator> {
	const refused: Simulator["refused"] = [];
	for (const method of simulationMethods) {
		const probed = await probeSimulation(node, method);
		if ("simulate" in probed) return { ...probed, method, refused };
		refused.push({ method, reason: probed.reason });
	}
	const reasons = refused.map(({ method, reason }) => `${method}: ${reason}`).join("; ");
	throw new Error(
		`no transaction can be simulated on chain ${node.chainId}; configure a node with one of these methods (${reasons})`,
	);
}

type Probed = Pick<Simulator, "simulate" | "takesAuthorizations"> | { reason: string };

/** Tries to simulate by one method. Throws if the node does not answer at all, or limits requests. */
export async function probeSimulation(node: Node, method: SimulationMethod): Promise<Probed> {
	try {
		return await probes[method](node);
	} catch (error) {
		await rethrowUnlessRefused(node, error);
		return { reason: error instanceof BaseError ? error.shortMessage : String(error) };
	}
}

/**
 * Code that returns and logs the word 42: PUSH1 42, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, LOG0, PUSH1 32, PUSH1 0,
 * RETURN.
 */
const answeringCode: Hex = "0x602a60005260206000a060206000f3";
const answer = numberToHex(42, { size: 32 });
/** Unused accounts. The code is set at one, and the other is delegated to it. */
const answerer: Address = "0x00000000000000000000000067656f73776170c0";
const wallet = privateKeyToAccount(toHex("a key that owns nothing", { size: 32 }));
const delegated = {
	from: zeroAddress,
	to: wallet.address,
	data: "0x" as const,
	gas: 1_000_000n,
	codes: [
		{ address: answerer, code: answeringCode },
		{ address: wallet.address, code: concat([delegationPrefix, answerer]) },
	],
	orders: [],
};

const ignored = { reason: "the node ignores state overrides" };

const probes: Record<SimulationMethod, (node: Node) => Promise<Probed>> = {
	async eth_simulateV1(node) {
		const simulate = simulateBySimulateV1(node);
		const { client, chainId } = node;
		const authorization = await wallet.signAuthorization({ address: answerer, chainId, nonce: 0 });
		const [block] = await client.simulateBlocks({
			blocks: [
				{
					calls: [{ account: zeroAddress, to: wallet.address, authorizationList: [authorization] }],
					stateOverrides: [
						{ address: answerer, code: answeringCode },
						{ address: wallet.address, nonce: 0, code: "0x" },
					],
				},
			],
		});
		const result = block?.calls[0];
		if (result?.data === answer && isLogged(result.logs)) return { simulate, takesAuthorizations: true };
		if (!isAnswered(await simulate(delegated))) return ignored;
		return { simulate: withDelegationsSet(node, simulate), takesAuthorizations: false };
	},
	async eth_call(node) {
		if ((await callWithCodes(node, delegated, delegated.codes)) !== answer) return ignored;
		return { simulate: withDelegationsSet(node, simulateByCall(node)), takesAuthorizations: false };
	},
	async debug_traceCall(node) {
		const simulate = simulateByTrace(node);
		if (!isAnswered(await simulate(delegated))) return ignored;
		return { simulate: withDelegationsSet(node, simulate), takesAuthorizations: false };
	},
};

function isAnswered(simulation: Simulation): boolean {
	return simulation.succeeds && "logs" in simulation && isLogged(simulation.logs);
}

function isLogged(logs: readonly Log[] | undefined): boolean {
	return logs?.length === 1 && logs[0]?.data === answer;
}

/** JSON-RPC errors with which providers limit requests. */
const limitCodes = [-32_005, 429];

/**
 * Rethrows the errors of a node that is busy or away, which do not depend on the method. Some nodes break the
 * connection at a method that they do not support, so one that answers another call right afterwards counts as having
 * refused.
 */
async function rethrowUnlessRefused({ client }: Node, error: unknown): Promise<void> {
	if (!(error instanceof BaseError)) return;
	const refusal = error.walk((cause) => cause instanceof RpcRequestError);
	if (refusal instanceof RpcRequestError) {
		if (limitCodes.includes(refusal.code)) throw error;
		return;
	}
	const failure = error.walk((cause) => cause instanceof HttpRequestError);
	if (failure instanceof HttpRequestError && failure.status === 429) throw error;
	await client.getChainId().catch(() => {
		throw error;
	});
}

/** Returns a function that simulates by `eth_simulateV1`, which returns logs and the gas used. */
function simulateBySimulateV1({ client }: Pick<EvmChain, "client">): Simulate {
	return async ({ from, to, data, gas, authorizationList, codes = [], slots = [] }) => {
		const call = { account: from, to, data, gas };
		const [block] = await client.simulateBlocks({
			blocks: [
				{
					calls: [authorizationList ? { ...call, authorizationList } : call],
					stateOverrides: overridesByAccount(codes, slots),
				},
			],
		});
		const result = block?.calls[0];
		if (!result) throw new Error("the chain returned no simulation");
		if (result.status !== "success") return { succeeds: false, data: result.data };
		return { succeeds: true, gasUsed: result.gasUsed, logs: (result.logs ?? []) as Log[] };
	};
}

function overridesByAccount(codes: readonly AccountCode[], slots: readonly AccountSlot[]): StateOverride {
	return Object.entries(overridesOf(codes, slots)).map(([address, { code, stateDiff }]) => ({
		address: address as Address,
		...(code && { code }),
		...(stateDiff && {
			stateDiff: Object.entries(stateDiff).map(([slot, value]) => ({ slot: slot as Hex, value })),
		}),
	}));
}

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
function simulateByTrace({ client }: Pick<EvmChain, "client">): Simulate {
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

/** EIP-7702: the gas of one authorization. */
const authorizationGas = 25_000n;

/**
 * Wraps the simulations of a node that may leave authorizations out of them. Instead, sets the code that the chain
 * would give to the signers of the authorizations.
 */
function withDelegationsSet(node: Node, simulate: Simulate): Simulate {
	return async ({ authorizationList, ...call }) => {
		if (!authorizationList) return simulate(call);
		const codes = [...(call.codes ?? []), ...(await delegatedCodes(node, authorizationList))];
		const simulation = await simulate({ ...call, codes });
		if (!simulation.succeeds) return simulation;
		return {
			...simulation,
			gasUsed: simulation.gasUsed + authorizationGas * BigInt(authorizationList.length),
		};
	};
}

/**
 * Makes the checks of a chain, on which an authorization for another chain, or with a spent nonce or a bad signature,
 * sets no code.
 */
async function delegatedCodes(
	{ chainId, client }: Node,
	authorizations: readonly SignedAuthorization[],
): Promise<AccountCode[]> {
	const codes = await Promise.all(
		authorizations.map(async ({ yParity = -1, ...authorization }): Promise<AccountCode[]> => {
			const signer = authorizationSigner({ ...authorization, yParity });
			if (!signer || ![0, chainId].includes(authorization.chainId)) return [];
			const nonce = await client.getTransactionCount({ address: signer });
			if (nonce !== authorization.nonce) return [];
			return [{ address: signer, code: concat([delegationPrefix, authorization.address]) }];
		}),
	);
	return codes.flat();
}
