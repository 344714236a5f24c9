import {
	type Bundle,
	type ChainDeployment,
	encodeBundle,
	type Fill,
	geoAccountAbi,
	geoEscrowAbi,
	geoVaultAbi,
	type Opening,
	type Order,
	orderProof,
	orderTypedData,
	packDeadlines,
	toWord,
} from "@geoswap/protocol";
import { decodeRelayerCall } from "@geoswap/signer/policy/decode-relayer-call";
import {
	type Address,
	concat,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	numberToHex,
	parseAbi,
	parseTransaction,
	serializeTransaction,
	slice,
	type TransactionSerializable,
	type TransactionSerializableEIP7702,
	zeroAddress,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";

/** Everything that is available to a thief of the worker. */
export type Thief = {
	account: PrivateKeyAccount;
	chain: ChainDeployment;
	/** A chain of the same service. */
	otherChain: ChainDeployment;
	/** Returns an integer from 0 up to, but not including, `below`. */
	dice: (below: number) => number;
};

/** Returns a forged transaction; undefined if the forgery does not fit the payload. */
export type Forgery = (unsigned: Hex, thief: Thief) => Hex | undefined | Promise<Hex | undefined>;

type Changes = Record<string, unknown>;

const managerAbi = parseAbi([
	"function grantRole(uint64 roleId, address account, uint32 executionDelay)",
	"function execute(address target, bytes data)",
]);

/** Forgeries of any transaction of a relayer. */
export const forgeries: Record<string, Forgery> = {
	"another chain": changed(({ otherChain, dice }) => ({ chainId: [1, 8453, otherChain.chainId][dice(3)] })),
	value: changed(({ dice }) => ({ value: BigInt(1 + dice(1_000_000)) })),
	"value to the thief": changed(({ account }) => ({
		to: account.address,
		data: undefined,
		value: 10n ** 18n,
	})),
	"another target": changed(({ account, chain, otherChain, dice }) => ({
		to: [
			account.address,
			chain.settlementToken,
			chain.contracts.accessManager,
			otherChain.contracts.vault,
			zeroAddress,
		][dice(5)],
	})),
	"a new contract": changed(() => ({ to: undefined })),
	"a transfer": calling(({ account, chain }) => [
		chain.settlementToken,
		encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [account.address, 1n] }),
	]),
	"an approval": calling(({ account, chain }) => [
		chain.settlementToken,
		encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [account.address, 2n ** 256n - 1n] }),
	]),
	"a withdrawal": calling(({ account, chain }) => [
		chain.contracts.vault,
		encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "withdraw",
			args: [chain.settlementToken, account.address, 1n],
		}),
	]),
	"a higher cap": calling(({ chain }) => [
		chain.contracts.vault,
		encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "setCap",
			args: [0, chain.settlementToken, zeroAddress, 2n ** 95n],
		}),
	]),
	"a transfer of the vault's": calling(({ account, chain }) => [
		chain.contracts.vault,
		encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "send",
			args: [toWord(account.address), chain.settlementToken, account.address, 1n],
		}),
	]),
	"a trade of the vault's": calling(({ account, chain }) => [
		chain.contracts.vault,
		encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "trade",
			args: [
				toWord(account.address),
				chain.settlementToken,
				chain.wrappedNative,
				10n ** 9n,
				0n,
				500,
				0,
				2n ** 64n,
			],
		}),
	]),
	"another authority": calling(({ account, chain }) => [
		chain.contracts.vault,
		encodeFunctionData({ abi: geoVaultAbi, functionName: "setAuthority", args: [account.address] }),
	]),
	"a role": calling(({ account, chain }) => [
		chain.contracts.accessManager,
		encodeFunctionData({ abi: managerAbi, functionName: "grantRole", args: [0n, account.address, 0] }),
	]),
	"a call by the manager": calling(({ chain }) => [
		chain.contracts.accessManager,
		encodeFunctionData({
			abi: managerAbi,
			functionName: "execute",
			args: [chain.contracts.vault, "0x3f4ba83a"],
		}),
	]),
	"a claim": calling(({ account, chain }) => [
		chain.contracts.escrow,
		encodeFunctionData({
			abi: geoEscrowAbi,
			functionName: "claimTo",
			args: [chain.settlementToken, account.address],
		}),
	]),
	"a call of the account's": calling(({ chain }) => [
		chain.contracts.delegate,
		encodeFunctionData({ abi: geoAccountAbi, functionName: "revokeMandates", args: ["0x"] }),
	]),
	"a selector of nobody": calling(({ chain, dice }) => [
		chain.contracts.vault,
		concat([numberToHex(dice(2 ** 31), { size: 4 }), numberToHex(dice(2 ** 31), { size: 32 })]),
	]),
	"bytes after the call": changed(({ dice }, { data = "0x" }) => ({
		data: concat([data, numberToHex(dice(256), { size: 1 + dice(40) })]),
	})),
	"an access list": changed(({ account }) => ({
		accessList: [{ address: account.address, storageKeys: [] }],
	})),
	"a legacy transaction": (unsigned) => {
		const { to, data, nonce, gas, chainId, maxFeePerGas } = parseTransaction(unsigned);
		return serializeTransaction({
			type: "legacy",
			...(to && { to }),
			...(data && { data }),
			nonce: nonce ?? 0,
			gas: gas ?? 0n,
			chainId: chainId ?? 0,
			gasPrice: maxFeePerGas ?? 0n,
		});
	},
	"too much gas": changed(({ dice }) => ({ gas: 2n ** 24n + BigInt(1 + dice(1_000)) })),
	"a fee that burns the relayer's ether": changed(({ dice }) => ({
		maxFeePerGas: 10n ** 12n + BigInt(dice(1_000)),
		maxPriorityFeePerGas: 10n ** 12n,
	})),
	"a nonce far ahead": changed(({ dice }, { nonce = 0 }) => ({ nonce: nonce + 1_000 + dice(1_000) })),
	"an authorization of the thief's": async (unsigned, { account, chain }) => {
		const { chainId } = chain;
		const signed = await account.signAuthorization({ chainId, address: chain.contracts.delegate, nonce: 0 });
		return withChanges(unsigned, { type: "eip7702", authorizationList: [signed] });
	},
	"an authorization for another delegate": (unsigned, { account }) => {
		const { authorizationList } = parseTransaction(unsigned) as TransactionSerializableEIP7702;
		if (!authorizationList) return undefined;
		const list = authorizationList.map((one) => ({ ...one, address: account.address }));
		return withChanges(unsigned, { authorizationList: list });
	},
	"an authorization for all chains": (unsigned) => {
		const { authorizationList } = parseTransaction(unsigned) as TransactionSerializableEIP7702;
		return (
			authorizationList &&
			withChanges(unsigned, { authorizationList: authorizationList.map((one) => ({ ...one, chainId: 0 })) })
		);
	},
	"a byte of the envelope": (unsigned, { dice }) => {
		// The first two bytes are the type and the start of the list. A change of a number within its bounds is no forgery.
		const at = dice(2);
		const bytes = Buffer.from(unsigned.slice(2), "hex");
		bytes[at] = ((bytes[at] ?? 0) + 1 + dice(255)) % 256;
		return `0x${bytes.toString("hex")}`;
	},
	"a cut": (unsigned, { dice }) => `0x${unsigned.slice(2, 2 + 2 * dice(unsigned.length / 2 - 1))}`,
	"opens at an escrow of the thief's": bundled("open", (bundle, { account }) => ({
		...bundle,
		escrow: account.address,
	})),
	"another wallet": opened((_, { account }) => ({ wallet: account.address })),
	"an order to the thief": opened(({ terms }, { account }) => ({
		terms: { ...terms, recipient: toWord(account.address) },
	})),
	"an order with a larger input": opened(({ terms }) => ({
		terms: { ...terms, inputAmount: terms.inputAmount + 1n },
	})),
	"an order with a smaller output": opened(({ terms }) => ({ terms: { ...terms, minOutput: 1n } })),
	"an order for the thief's vault": opened(({ terms }, { account }) => ({
		terms: { ...terms, originVault: toWord(account.address) },
	})),
	"an order that can be opened for longer": opened(({ terms }) => ({
		terms: { ...terms, deadlines: terms.deadlines + (3_600n << 128n) },
	})),
	"deadlines with more bits": opened(({ terms }, { dice }) => ({
		terms: { ...terms, deadlines: terms.deadlines | (1n << BigInt(192 + dice(64))) },
	})),
	"a proof of the other kind": opened(({ proof }) => ({
		proof: concat([slice(proof, 0, 1) === "0x00" ? "0x01" : "0x00", slice(proof, 1)]),
	})),
	"a proof of no kind": opened(({ proof }, { dice }) => ({
		proof: concat([numberToHex(2 + dice(254), { size: 1 }), slice(proof, 1)]),
	})),
	"a byte of a proof": opened(({ proof }, { dice }) => ({ proof: withOtherByte(proof, dice) })),
	"the twin of a signature": opened(({ proof }) => ({ proof: withHighS(proof) })),
	"a proof by an agent": opened(({ proof }, { dice }) => ({
		proof: concat([proof, numberToHex(dice(256), { size: 32 })]),
	})),
	"a proof without a signature": opened(({ proof }) => ({ proof: slice(proof, 0, 1) })),
	"the thief's signature": async (unsigned, { account }) => {
		const bundle = bundleOf(unsigned);
		if (bundle?.kind !== "open") return undefined;
		const { chainId } = parseTransaction(unsigned);
		const openings = await Promise.all(
			bundle.openings.map(async (opening) => {
				const order = orderOf(opening, { chainId: chainId ?? 0, escrow: bundle.escrow });
				const signature = await account.signTypedData(orderTypedData(order));
				return { ...opening, proof: orderProof({ kind: "typed", signature }) };
			}),
		);
		return withChanges(unsigned, encodeBundle({ ...bundle, openings }));
	},
	"no order": bundled("open", (bundle) => ({ ...bundle, openings: [] })),
	"a top-up": filled(({ dice }) => ({ order: { topUp: BigInt(1 + dice(1_000_000)) } })),
	"another recipient": filled(({ account }) => ({ order: { recipient: toWord(account.address) } })),
	"another output": filled(({ chain, dice }) => ({
		order: {
			outputToken: toWord(chain.assets[dice(chain.assets.length)]?.address ?? zeroAddress),
			minOutput: 2n,
		},
	})),
	"a token of the thief's": filled(({ account }) => ({ order: { outputToken: toWord(account.address) } })),
	"a higher amount": filled((_, { amount }) => ({ amount: amount * 1_000_000n })),
	"a higher amount and minimum": filled((_, { amount }) => ({
		amount: amount * 10n,
		order: { minOutput: amount },
	})),
	"a higher input": filled((_, { order, amount }) => ({
		amount: amount * 10n,
		order: { inputAmount: order.inputAmount * 10n },
	})),
	"an escrow of the thief's": filled(({ account }) => ({ order: { escrow: toWord(account.address) } })),
	"an origin vault of the thief's": filled(({ account }) => ({
		order: { originVault: toWord(account.address) },
	})),
	"attesters of the thief's": filled(({ dice }) => ({
		order: { attesterSet: numberToHex(dice(2 ** 31), { size: 32 }) },
	})),
	"a destination of another chain": filled(({ otherChain }) => ({
		order: { destinationChainId: BigInt(otherChain.chainId) },
	})),
	"an origin that is not ours": filled(({ dice }) => ({
		order: { originChainId: BigInt(1 + dice(30_000)) },
	})),
	"the same order under another key": filled(({ dice }) => ({
		order: { swapKey: numberToHex(dice(2 ** 31), { size: 32 }) },
	})),
	"deadlines of next year": filled(() => {
		const from = BigInt(Math.floor(Date.now() / 1_000)) + 365n * 86_400n;
		return {
			order: {
				deadlines: packDeadlines({ openDeadline: from, fillDeadline: from + 1n, refundAfter: from + 2n }),
			},
		};
	}),
	"a pool that is not ours": filled(({ dice }) => ({ poolFee: 1 + dice(99), secondPoolFee: dice(99) })),
	"a single fill": (unsigned) => {
		const bundle = bundleOf(unsigned);
		const [fill] = bundle?.kind === "fill" ? bundle.fills : [];
		return (
			fill &&
			withChanges(unsigned, {
				data: encodeFunctionData({ abi: geoVaultAbi, functionName: "fill", args: [fill] }),
			})
		);
	},
	"a release as a refund": bundled("release", (bundle) => ({ ...bundle, kind: "refund" })),
	"a refund as a release": bundled("refund", (bundle) => ({ ...bundle, kind: "release" })),
	"a byte of an attester's signature": bundled("release", (bundle, { dice }) => ({
		...bundle,
		attestation: {
			...bundle.attestation,
			signatures: bundle.attestation.signatures.map((one) => withOtherByte(one, dice)),
		},
	})),
	"too few attesters": bundled("refund", (bundle) => ({
		...bundle,
		attestation: { ...bundle.attestation, signatures: bundle.attestation.signatures.slice(1) },
	})),
	"one attester twice": bundled("release", (bundle) => ({
		...bundle,
		attestation: {
			...bundle.attestation,
			signatures: bundle.attestation.signatures.map(() => bundle.attestation.signatures[0] ?? "0x"),
		},
	})),
	"a set of the thief's": bundled("release", (bundle, { account }) => ({
		...bundle,
		attestation: { ...bundle.attestation, threshold: 1n, attesters: [account.address] },
	})),
	"an order that was not attested": bundled("refund", (bundle, { account }) => ({
		...bundle,
		orders: bundle.orders.map((order) => ({ ...order, wallet: toWord(account.address) })),
	})),
	"a void at another vault": bundled("void", (bundle, { account }) => ({
		...bundle,
		orders: bundle.orders.map((order) => ({ ...order, destinationVault: toWord(account.address) })),
	})),
	"a late refund of another escrow": bundled("late-refund", (bundle, { account }) => ({
		...bundle,
		order: { ...bundle.order, escrow: toWord(account.address) },
	})),
};

function changed(
	changes: (thief: Thief, transaction: { data?: Hex | undefined; nonce?: number | undefined }) => Changes,
): Forgery {
	return (unsigned, thief) => withChanges(unsigned, changes(thief, parseTransaction(unsigned)));
}

function calling(call: (thief: Thief) => [to: Address, data: Hex]): Forgery {
	return changed((thief) => {
		const [to, data] = call(thief);
		return { to, data };
	});
}

function bundled<Kind extends Bundle["kind"]>(
	kind: Kind,
	change: (bundle: Extract<Bundle, { kind: Kind }>, thief: Thief) => Bundle,
): Forgery {
	return (unsigned, thief) => {
		const bundle = bundleOf(unsigned);
		if (bundle?.kind !== kind) return undefined;
		return withChanges(unsigned, encodeBundle(change(bundle as Extract<Bundle, { kind: Kind }>, thief)));
	};
}

/** Changes one of the orders that are opened, and leaves the rest of the bundle honest. */
function opened(change: (opening: Opening, thief: Thief) => Partial<Opening>): Forgery {
	return bundled("open", (bundle, thief) => {
		const at = thief.dice(bundle.openings.length);
		const openings = bundle.openings.map((opening, i) =>
			i === at ? { ...opening, ...change(opening, thief) } : opening,
		);
		return { ...bundle, openings };
	});
}

function orderOf(
	{ wallet, terms }: Opening,
	{ chainId, escrow }: { chainId: number; escrow: Address },
): Order {
	return { ...terms, wallet: toWord(wallet), originChainId: BigInt(chainId), escrow: toWord(escrow) };
}

/** Returns the proof with the other signature that is valid for the same key and digest. */
function withHighS(proof: Hex): Hex {
	const [kind, r, s, v] = [slice(proof, 0, 1), slice(proof, 1, 33), slice(proof, 33, 65), slice(proof, 65)];
	const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
	const twin = numberToHex(curveOrder - BigInt(s), { size: 32 });
	return concat([kind, r, twin, v === "0x1b" ? "0x1c" : "0x1b"]);
}

type FillChanges = Partial<Omit<Fill, "order">> & { order?: Partial<Order> };

/** Changes one of the fills, and leaves the rest of the bundle honest. */
function filled(change: (thief: Thief, fill: Fill) => FillChanges): Forgery {
	return bundled("fill", (bundle, thief) => {
		const at = thief.dice(bundle.fills.length);
		const fills = bundle.fills.map((fill, i) => {
			if (i !== at) return fill;
			const { order, ...rest } = change(thief, fill);
			return { ...fill, ...rest, order: { ...fill.order, ...order } };
		});
		return { ...bundle, fills };
	});
}

function bundleOf(unsigned: Hex): Bundle | undefined {
	const { to, data } = parseTransaction(unsigned);
	return to && data ? decodeRelayerCall({ to, data }) : undefined;
}

function withChanges(unsigned: Hex, changes: Changes): Hex {
	return serializeTransaction({ ...parseTransaction(unsigned), ...changes } as TransactionSerializable);
}

function withOtherByte(hex: Hex, dice: (below: number) => number): Hex {
	const bytes = Buffer.from(hex.slice(2), "hex");
	const at = dice(bytes.length);
	bytes[at] = ((bytes[at] ?? 0) + 1 + dice(255)) % 256;
	return `0x${bytes.toString("hex")}`;
}
