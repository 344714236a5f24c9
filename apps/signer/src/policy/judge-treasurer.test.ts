import { type ChainDeployment, geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	concat,
	encodeAbiParameters,
	encodeFunctionData,
	getAddress,
	type Hex,
	numberToHex,
	parseAbi,
	type SignedAuthorization,
	serializeTransaction,
	slice,
	type TransactionSerializable,
	zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { judgeTreasurer, type TreasurerRules } from "./judge-treasurer.ts";
import { feeMeter, moveMeter } from "./meters.ts";
import { Refusal } from "./refusal.ts";

const at = (n: number): Address => getAddress(numberToHex(n, { size: 20 }));
const [vault, earlierVault, escrow] = [at(0x7a), at(0x79), at(0xe5c)];
const [usdc, weth, orb, foreign] = [at(0xc), at(0xe), at(0x0b), at(0xbad)];
const [treasurer, relayer, route, transmitter] = [at(0x7e), at(0x9e1), at(0x60), at(0x71)];
const chainId = 31337;
const rules: TreasurerRules = {
	key: "treasurer",
	address: treasurer,
	chain: {
		chainId,
		contracts: { vault, earlierVaults: [earlierVault], escrow },
		settlementToken: usdc,
		assets: [
			{ address: usdc, paths: [] },
			{ address: zeroAddress, paths: [[500]] },
			{ address: weth, paths: [[500]] },
			{ address: orb, paths: [[3000], [500, 10_000]] },
		],
		cctp: { routes: { 31338: route }, messageTransmitter: transmitter, tokenMessenger: at(0x72), domain: 0 },
	} as unknown as ChainDeployment,
	maxGas: 10n ** 6n,
	maxFeePerGasWei: 10n ** 9n,
	maxTransactionFeeWei: 10n ** 15n,
	gasAccounts: [relayer, treasurer],
};

const moveId = numberToHex(7, { size: 32 });

function trade({
	tokenIn = orb,
	tokenOut = usdc,
	amountIn = 100n,
	minOut = 99n,
	poolFee = 3000,
	secondPoolFee = 0,
}: {
	tokenIn?: Address;
	tokenOut?: Address;
	amountIn?: bigint;
	minOut?: bigint;
	poolFee?: number;
	secondPoolFee?: number;
} = {}): Hex {
	const args = [moveId, tokenIn, tokenOut, amountIn, minOut, poolFee, secondPoolFee, 2_000_000_000n] as const;
	return encodeFunctionData({ abi: geoVaultAbi, functionName: "trade", args });
}

function send({ token = zeroAddress as Address, to = relayer, amount = 5n } = {}): Hex {
	return encodeFunctionData({ abi: geoVaultAbi, functionName: "send", args: [moveId, token, to, amount] });
}

const burn = (maxFee: bigint) =>
	encodeAbiParameters([{ type: "uint256" }, { type: "uint32" }], [maxFee, 2_000]);

function bridge({ token = usdc, to = route, amount = 50n, data = burn(1n) } = {}): Hex {
	const args = [moveId, token, to, amount, data] as const;
	return encodeFunctionData({ abi: geoVaultAbi, functionName: "bridge", args });
}

const transmitterAbi = parseAbi([
	"function receiveMessage(bytes message, bytes attestation) returns (bool)",
	"function replaceMessage(bytes originalMessage, bytes originalAttestation, bytes newMessageBody, bytes32 newDestinationCaller)",
]);
const mint = encodeFunctionData({
	abi: transmitterAbi,
	functionName: "receiveMessage",
	args: [`0x${"ab".repeat(40)}`, `0x${"cd".repeat(65)}`],
});

function transactionOf(changes: object = {}): Hex {
	const fees = { gas: 300_000n, maxFeePerGas: 10n ** 8n, maxPriorityFeePerGas: 1n };
	const plain = { type: "eip1559", chainId, nonce: 7, ...fees, to: vault, data: trade() };
	return serializeTransaction({ ...plain, ...changes } as TransactionSerializable);
}

function judge(changes: object, changed: Partial<TreasurerRules> = {}) {
	return judgeTreasurer(transactionOf(changes), { ...rules, ...changed });
}

/** Returns the reason of the refusal and its message, or the kind of what is signed. */
function outcomeOf(changes: object, changed: Partial<TreasurerRules> = {}): string {
	try {
		return `signed ${judge(changes, changed).kind}`;
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		return `${error.reason}: ${error.message}`;
	}
}

const feeCharge = { meter: feeMeter("treasurer"), item: "7", amount: 300_000n * 10n ** 8n };
const moved = (token: Address, amount: bigint) => ({
	meter: moveMeter("treasurer", token),
	item: `${vault.toLowerCase()}/${moveId}`,
	amount,
});

test("moves of the vault, mints and cancels are signed, and a move counts by its id what it takes of its token", () => {
	const signed: [changes: object, kind: string, charge?: object][] = [
		[{ data: trade() }, "trade", moved(orb, 100n)],
		[{ data: trade({ tokenIn: zeroAddress, poolFee: 500 }) }, "trade", moved(zeroAddress, 100n)],
		[{ data: trade({ tokenIn: usdc, tokenOut: zeroAddress, poolFee: 500 }) }, "trade", moved(usdc, 100n)],
		[{ data: send() }, "send", moved(zeroAddress, 5n)],
		[{ data: send({ to: treasurer }) }, "send", moved(zeroAddress, 5n)],
		[{ data: bridge() }, "bridge", moved(usdc, 50n)],
		[{ data: bridge({ data: burn(50n) }) }, "bridge", moved(usdc, 50n)],
		[{ to: transmitter, data: mint }, "mint"],
		[{ to: treasurer, data: "0x" }, "cancel"],
	];
	for (const [changes, kind, charge] of signed) {
		const judgement = judge(changes);
		expect(judgement).toMatchObject({ kind, nonce: 7, payouts: [] });
		expect(judgement.charges).toEqual(charge ? [feeCharge, charge] : [feeCharge]);
	}
});

test("a trade goes through the pools of a path of its asset, in the order in which it meets them", () => {
	const longest = { poolFee: 10_000, secondPoolFee: 500 };
	const reversed = { poolFee: 500, secondPoolFee: 10_000 };
	expect(outcomeOf({ data: trade(longest) })).toBe("signed trade");
	expect(outcomeOf({ data: trade({ tokenIn: usdc, tokenOut: orb, ...reversed }) })).toBe("signed trade");
	const refused = [
		trade(reversed),
		trade({ tokenIn: usdc, tokenOut: orb, ...longest }),
		trade({ poolFee: 100 }),
		trade({ poolFee: 0 }),
		trade({ poolFee: 3000, secondPoolFee: 3000 }),
		trade({ tokenIn: weth, poolFee: 3000 }),
	];
	for (const data of refused) {
		expect(outcomeOf({ data })).toMatch(/^not-ours: a trade goes through pools of fees \d/);
	}
});

const authorization = (await privateKeyToAccount(generatePrivateKey()).signAuthorization({
	address: zeroAddress,
	chainId,
	nonce: 0,
})) as SignedAuthorization;
const word = (value: bigint) => numberToHex(value, { size: 32 });
/** Replaces the word of an argument. */
const withWord = (data: Hex, index: number, changed: Hex) =>
	concat([slice(data, 0, 4 + 32 * index), changed, slice(data, 4 + 32 * (index + 1))]);

describe("a treasurer's key does not sign", () => {
	test.each<[what: string, changes: object, problem: string]>([
		["a move for another chain", { chainId: 1 }, "not-ours: the transaction is for chain 1"],
		["a move with value", { value: 1n }, "malformed: the transaction carries value"],
		["a new contract", { to: undefined }, "malformed: the transaction creates a contract"],
		[
			"a transaction of an older type",
			{ type: "legacy", gasPrice: 1n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined },
			"malformed",
		],
		[
			"an access list",
			{ accessList: [{ address: vault, storageKeys: [] }] },
			"malformed: the transaction has an access list",
		],
		[
			"a move with an authorization",
			{ type: "eip7702", authorizationList: [authorization] },
			"malformed: a treasurer's transaction has authorizations",
		],
		[
			"a cancel with an authorization",
			{ type: "eip7702", authorizationList: [authorization], to: treasurer, data: "0x" },
			"malformed: a treasurer's transaction has authorizations",
		],
		["too much gas", { gas: 10n ** 6n + 1n }, "too-dear: 1000001 is more gas"],
		["a too high fee for gas", { maxFeePerGas: 10n ** 9n + 1n }, "too-dear"],
		["a cancel to another account", { to: relayer, data: "0x" }, "not-ours: a cancel goes to"],
		["a payment to the vault without a call", { data: "0x" }, "not-ours: a cancel goes to"],
		["a move of an earlier vault", { to: earlierVault }, `not-ours: ${earlierVault} is not our vault`],
		["a move of a foreign vault", { to: foreign }, "is not our vault"],
		["a move sent to the route itself", { to: route, data: bridge() }, "is not our vault"],
		["a move sent to Circle's contract", { to: transmitter, data: bridge() }, "is not our vault"],
		["a trade of nothing", { data: trade({ amountIn: 0n }) }, "malformed: a trade moves nothing"],
		["a trade without a minimum", { data: trade({ minOut: 0n }) }, "malformed: a trade has no minimum"],
		[
			"a trade between two other assets",
			{ data: trade({ tokenOut: weth }) },
			"not-ours: a trade has the settlement token on neither",
		],
		[
			"a trade of the settlement token for itself",
			{ data: trade({ tokenIn: usdc }) },
			"not-ours: a trade has the settlement token on neither or both",
		],
		[
			"a sale of a foreign token",
			{ data: trade({ tokenIn: foreign }) },
			`not-ours: a trade is of ${foreign}, which is not among the assets`,
		],
		[
			"a purchase of a foreign token",
			{ data: trade({ tokenIn: usdc, tokenOut: foreign }) },
			`not-ours: a trade is of ${foreign}`,
		],
		["a send of a token", { data: send({ token: usdc }) }, "not the native token"],
		["a send of wrapped native", { data: send({ token: weth }) }, "not the native token"],
		["a send to a stranger", { data: send({ to: foreign }) }, "which gasAccounts does not list"],
		["a send to the vault", { data: send({ to: vault }) }, "which gasAccounts does not list"],
		["a send of nothing", { data: send({ amount: 0n }) }, "malformed: a send moves nothing"],
		["a bridge of another asset", { data: bridge({ token: orb }) }, "not the settlement token"],
		["a bridge of the native token", { data: bridge({ token: zeroAddress }) }, "not the settlement token"],
		["a bridge by a foreign route", { data: bridge({ to: foreign }) }, "which is not our route"],
		["a bridge to Circle's contract", { data: bridge({ to: at(0x72) }) }, "which is not our route"],
		["a bridge to a relayer", { data: bridge({ to: relayer }) }, "which is not our route"],
		["a bridge of nothing", { data: bridge({ amount: 0n }) }, "malformed: a bridge moves nothing"],
		["a bridge with a fee above its amount", { data: bridge({ data: burn(51n) }) }, "a fee above its amount"],
		["a bridge without terms", { data: bridge({ data: "0x" }) }, "malformed"],
		["a bridge with longer terms", { data: bridge({ data: concat([burn(1n), "0x00"]) }) }, "malformed"],
		["a bridge with shorter terms", { data: bridge({ data: slice(burn(1n), 0, 63) }) }, "malformed"],
		[
			"a bridge whose finality has more bits",
			{ data: bridge({ data: concat([word(1n), word((1n << 32n) + 2_000n)]) }) },
			"malformed",
		],
		["a mint by a foreign contract", { to: foreign, data: mint }, "is not Circle's contract that mints"],
		["a mint sent to the vault", { data: mint }, "is not Circle's contract that mints"],
		["a mint with a tail", { to: transmitter, data: concat([mint, "0x00"]) }, "bytes that no lane writes"],
		["a mint that is cut off", { to: transmitter, data: slice(mint, 0, 60) }, "malformed"],
		[
			"another call of Circle's contract",
			{
				to: transmitter,
				data: encodeFunctionData({
					abi: transmitterAbi,
					functionName: "replaceMessage",
					args: ["0x", "0x", "0x", word(0n)],
				}),
			},
			"is none that a treasurer's lane makes",
		],
		["a trade with a tail", { data: concat([trade(), "0x00"]) }, "bytes that no lane writes"],
		["a trade that is cut off", { data: slice(trade(), 0, 200) }, "malformed"],
		[
			"a trade of a token with more bits than an address",
			{ data: withWord(trade(), 1, concat([`0x${"00".repeat(11)}01`, orb])) },
			"malformed",
		],
		[
			"a trade through a pool with more bits than a fee",
			{ data: withWord(trade(), 5, word((1n << 24n) + 3000n)) },
			"malformed",
		],
		["a send with more bits than an address", { data: withWord(send(), 2, word(1n << 200n)) }, "malformed"],
		[
			"a bridge that points at other terms",
			{ data: concat([withWord(bridge(), 4, word(192n)), `0x${"00".repeat(32)}`]) },
			"malformed",
		],
		["four bytes", { data: slice(trade(), 0, 4) }, "malformed"],
		["three bytes", { data: slice(trade(), 0, 3) }, "malformed"],
		...(
			[
				["withdraw", [usdc, foreign, 1n]],
				["claimCredit", [usdc, foreign]],
				["setCap", [3, usdc, foreign, 1n]],
				["setFeed", [usdc, foreign, 1, 0]],
				["pause", []],
				["unpause", []],
				["fillMany", [[]]],
				["voidMany", [[]]],
				["setAuthority", [foreign]],
			] as const
		).map(([functionName, args]): [string, object, string] => [
			`the vault's ${functionName}`,
			{ data: encodeFunctionData({ abi: geoVaultAbi, functionName, args } as never) },
			`malformed: no lane of a treasurer calls ${functionName}`,
		]),
		[
			"a call of the escrow",
			{
				to: escrow,
				data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "claim", args: [usdc, foreign] }),
			},
			"is none that a treasurer's lane makes",
		],
		[
			"a transfer of a token",
			{
				to: usdc,
				data: encodeFunctionData({
					abi: parseAbi(["function transfer(address to, uint256 amount)"]),
					functionName: "transfer",
					args: [foreign, 1n],
				}),
			},
			"is none that a treasurer's lane makes",
		],
	])("%s", (_, changes, problem) => {
		expect(outcomeOf(changes)).toContain(problem);
	});

	test("a transaction that costs more than one may", () => {
		const changed = { maxTransactionFeeWei: feeCharge.amount - 1n };
		expect(outcomeOf({})).toBe("signed trade");
		expect(outcomeOf({}, changed)).toContain("too-dear: the transaction can cost");
	});

	test("a bridge or a mint on a chain without Circle's contracts, or a send without listed accounts", () => {
		const { cctp: _, ...chain } = rules.chain;
		expect(outcomeOf({ data: bridge() }, { chain })).toContain("which is not our route");
		expect(outcomeOf({ to: transmitter, data: mint }, { chain })).toContain("is not Circle's contract");
		expect(outcomeOf({ data: send() }, { gasAccounts: [] })).toContain("which gasAccounts does not list");
	});

	test("bytes that are no transaction, or one in an unusual encoding", () => {
		const unsigned = transactionOf();
		for (const bytes of ["0x", "0x02", concat([unsigned, "0x00"]), slice(unsigned, 0, 40)] as Hex[]) {
			expect(() => judgeTreasurer(bytes, rules)).toThrow("the transaction cannot be read");
		}
	});
});
