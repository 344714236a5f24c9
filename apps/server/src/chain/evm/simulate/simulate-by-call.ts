import { geoEscrowAbi } from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionResult,
	encodeFunctionData,
	getAddress,
	type Hex,
	hexToBytes,
	isAddressEqual,
	keccak256,
	numberToHex,
	size,
	slice,
	toBytes,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { delegationPrefix } from "../wallet/wallet-delegation.ts";
import { simulatedTarget } from "./simulated-target.ts";
import type {
	AccountCall,
	AccountCode,
	AccountSlot,
	Simulate,
	SimulatedCall,
	StateChange,
} from "./simulation.ts";

const { abi, runtimeCode } = simulatedTarget;

/** Gas enough to read an order's state. */
const stateGas = 100_000n;

/** The address to which the target's code moves. SimulatedTarget.sol names the same. */
const movedCode = getAddress(slice(keccak256(toBytes("geoswap.simulation.moved-code")), 12));

/**
 * Returns a function that simulates by `eth_call` with state overrides. The call returns no logs, so a contract in the
 * target's place runs the target's code and reads the states of the orders before and after it.
 */
export function simulateByCall(chain: Pick<EvmChain, "client">): Simulate {
	const codeOf = createCodeReader(chain);

	return async (call) => {
		const given = call.codes ?? [];
		const own = given.find(({ address }) => isAddressEqual(address, call.to));
		const codes: AccountCode[] = [
			...given.filter((code) => code !== own),
			{ address: call.to, code: runtimeCode },
			{ address: movedCode, code: own?.code ?? (await codeOf(call.to)) },
		];
		const data = encodeFunctionData({
			abi,
			functionName: "simulate",
			args: [call.data, call.orders.map(stateCall)],
		});
		const [succeeds, returned, gasUsed, before, after] = decodeFunctionResult({
			abi,
			functionName: "simulate",
			data: await callWithCodes(chain, { ...call, data }, codes),
		});
		if (!succeeds) return { succeeds: false, data: returned };
		const changes = call.orders.map((_, i) => ({ before: stateOf(before[i]), after: stateOf(after[i]) }));
		return {
			succeeds: true,
			gasUsed: gasUsed + intrinsicGas(call.data),
			changes: await explainUnchanged(chain, call, { codes, changes }),
		};
	};
}

/** Reads a contract's code once, because it never changes. The code of a wallet may change, so it is read each time. */
function createCodeReader({ client }: Pick<EvmChain, "client">): (address: Address) => Promise<Hex> {
	const known = new Map<Address, Hex>();
	return async (address) => {
		const code = known.get(address) ?? (await client.getCode({ address })) ?? "0x";
		if (code !== "0x" && !code.startsWith(delegationPrefix)) known.set(address, code);
		return code;
	};
}

function stateCall({ contract, orderId }: SimulatedCall["orders"][number]): AccountCall {
	const args = [orderId] as const;
	// Escrows and vaults have the same function.
	return {
		to: contract,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "orderState", args }),
		gas: stateGas,
	};
}

/** Throws if the contract did not answer. For an unknown order it returns the state none. */
function stateOf(answer: Hex | undefined): number {
	if (!answer || size(answer) !== 32)
		throw new Error("a contract of the service did not return the state of an order");
	return Number(answer);
}

/**
 * Adds why orders did not change, if their parts are known. Repeats the parts one after the other as the target makes
 * them. Each finds the state that it found in the transaction, since a part that fails leaves nothing behind.
 */
async function explainUnchanged(
	chain: Pick<EvmChain, "client">,
	call: SimulatedCall,
	{ codes, changes }: { codes: AccountCode[]; changes: StateChange[] },
): Promise<StateChange[]> {
	const isUnchanged = ({ before, after }: StateChange) => before === after;
	const parts = call.orders.flatMap(({ part }) => part ?? []);
	if (parts.length < call.orders.length || !changes.some(isUnchanged)) return changes;
	const [succeed, returned] = decodeFunctionResult({
		abi,
		functionName: "callEach",
		data: await callWithCodes(
			chain,
			{ ...call, data: encodeFunctionData({ abi, functionName: "callEach", args: [parts] }) },
			codes,
		),
	});
	return changes.map((change, i) => {
		const revertData = returned[i];
		return isUnchanged(change) && succeed[i] === false && revertData !== undefined
			? { ...change, revertData }
			: change;
	});
}

/** Returns the gas that a transaction with this data and no authorizations pays before its first instruction. */
function intrinsicGas(data: Hex): bigint {
	let tokens = 0n;
	for (const byte of hexToBytes(data)) tokens += byte === 0 ? 1n : 4n;
	return 21_000n + 4n * tokens;
}

type AccountOverride = { code?: Hex; stateDiff?: Record<Hex, Hex> };

/**
 * Makes an `eth_call` while accounts have other code and storage. Unlike viem's `call`, throws the node's error as it
 * is.
 */
export function callWithCodes(
	{ client }: Pick<EvmChain, "client">,
	{ from, to, data, gas, slots = [] }: Pick<SimulatedCall, "from" | "to" | "data" | "gas" | "slots">,
	codes: readonly AccountCode[],
): Promise<Hex> {
	return client.request({
		method: "eth_call",
		params: [{ from, to, data, gas: numberToHex(gas) }, "latest", overridesOf(codes, slots)],
	});
}

/** Returns state overrides as nodes take them. */
export function overridesOf(
	codes: readonly AccountCode[],
	slots: readonly AccountSlot[],
): Record<Address, AccountOverride> {
	const overrides: Record<Address, AccountOverride> = {};
	for (const { address, code } of codes) overrides[address] = { code };
	for (const { address, slot, value } of slots) {
		const { stateDiff, ...rest } = overrides[address] ?? {};
		overrides[address] = { ...rest, stateDiff: { ...stateDiff, [slot]: value } };
	}
	return overrides;
}
