import type { CreatePolicyBody } from "@coinbase/cdp-sdk";
import { orderTypes, typedDataToJson } from "@geoswap/protocol";
import type { PrivyPoliciesService } from "@privy-io/node";
import type { createAccount } from "@turnkey/viem";
import { type Address, getAddress, type Hex, zeroAddress } from "viem";
import type { EvmAccount } from "../src/evm-account.ts";

/** The one route on which an agent's wallet may sign orders, and the most that one order may give. */
export type PolicyTerms = {
	/** From the pins of the origin chain. */
	chainId: number;
	escrow: Address;
	delegate: Address;
	originVault: Address;
	attesterSet: Hex;
	/** The wallet that pays. With a mandate this is the owner's, and the agent's wallet needs no delegation. */
	wallet: Address;
	inputToken: Address;
	maxAmount: bigint;
	/** From the pins of the destination chain. Tokens, vaults and recipients are words of 32 bytes, as in the order. */
	destinationChainId: number;
	destinationVault: Hex;
	outputToken: Hex;
	recipient: Hex;
};

const primaryType = "Order";
// A wallet gets the type of the domain as well, and Privy compares the whole map.
const { types } = typedDataToJson({
	domain: { name: "", version: "", chainId: 0, verifyingContract: zeroAddress },
	types: orderTypes,
	primaryType,
	message: {},
});

/**
 * Returns what the fields of an order must be. All but `inputAmount` must be the value itself. Hex is written as the SDK
 * writes it, in case a vendor compares it as text.
 */
function fieldsOf(terms: PolicyTerms) {
	const { wallet, inputToken, escrow, originVault } = terms;
	const { outputToken, recipient, destinationVault, attesterSet } = terms;
	const addresses = Object.entries({ wallet, inputToken, escrow, originVault });
	const words = Object.entries({ outputToken, recipient, destinationVault, attesterSet });
	return {
		addresses: addresses.map(([field, value]) => [field, getAddress(value)] as const),
		numbers: [
			["originChainId", "==", String(terms.chainId)],
			["destinationChainId", "==", String(terms.destinationChainId)],
			["inputAmount", "<=", String(terms.maxAmount)],
		] as const,
		words: words.map(([field, value]) => [field, value.toLowerCase()] as const),
	};
}

/**
 * Returns the policy of a CDP project. CDP has no rule for EIP-7702 authorizations, which are bare hashes to it, so the
 * wallet makes its first swap before the project has this policy. A policy of a single account is not enough, because an
 * API key suffices to detach it.
 */
export function cdpPolicy(terms: PolicyTerms): CreatePolicyBody {
	const { addresses, numbers, words } = fieldsOf(terms);
	return {
		scope: "project",
		description: "Only orders of Geoswap",
		rules: [
			{
				action: "accept",
				operation: "signEvmTypedData",
				criteria: [
					{ type: "evmTypedDataVerifyingContract", addresses: [terms.escrow], operator: "in" },
					{
						type: "evmTypedDataField",
						types: { types, primaryType },
						conditions: [
							...addresses.map(([path, one]) => ({ path, operator: "in" as const, addresses: [one] })),
							...numbers.map(([path, operator, value]) => ({ path, operator, value })),
							// The only condition for fields that are neither addresses nor numbers.
							...words.map(([path, word]) => ({ path, match: `^${word}$` })),
						],
					},
				],
			},
			// By one page of CDP's documentation an operation without any rule is rejected, by another it is accepted.
			{ action: "reject", operation: "signEvmHash" },
			{ action: "reject", operation: "signEvmMessage", criteria: [{ type: "evmMessage", match: ".*" }] },
			...(
				["signEvmTransaction", "sendEvmTransaction", "prepareUserOperation", "sendUserOperation"] as const
			).map((operation) => ({
				action: "reject" as const,
				operation,
				criteria: [{ type: "ethValue" as const, ethValue: "0", operator: ">=" as const }],
			})),
		],
	};
}

/** Returns the policy of a Privy wallet. Without an owner, the app's secret alone could change it. */
export function privyPolicy(terms: PolicyTerms & { ownerId: string }): PrivyPoliciesService.CreateInput {
	const { addresses, numbers, words } = fieldsOf(terms);
	const field_source = "ethereum_typed_data_domain";
	const isExactly = [...addresses, ...words].map(
		([field, value]) => ({ field, operator: "eq", value }) as const,
	);
	const compares = numbers.map(
		([field, sign, value]) => ({ field, operator: sign === "<=" ? "lte" : "eq", value }) as const,
	);
	return {
		version: "1.0",
		name: "Only orders of Geoswap",
		chain_type: "ethereum",
		owner_id: terms.ownerId,
		rules: [
			{
				name: "Orders",
				method: "eth_signTypedData_v4",
				action: "ALLOW",
				conditions: [
					{ field_source, field: "chainId", operator: "eq", value: String(terms.chainId) },
					{ field_source, field: "verifyingContract", operator: "eq", value: getAddress(terms.escrow) },
					...[...isExactly, ...compares].map((condition) => ({
						field_source: "ethereum_typed_data_message" as const,
						typed_data: { types, primary_type: primaryType },
						...condition,
					})),
				],
			},
			{
				name: "The delegation of a first swap",
				method: "eth_sign7702Authorization",
				action: "ALLOW",
				conditions: [
					{
						field_source: "ethereum_7702_authorization",
						field: "contract",
						operator: "in",
						value: [getAddress(terms.delegate), terms.delegate.toLowerCase()],
					},
				],
			},
		],
	};
}

type TurnkeyInput<Client> = Client extends { createPolicies: (input: infer Input) => unknown }
	? Input
	: never;
type TurnkeyBody = TurnkeyInput<Parameters<typeof createAccount>[0]["client"]>;
export type TurnkeyPolicy = Extract<TurnkeyBody, { parameters: unknown }>["parameters"]["policies"][number];

/**
 * Returns the policies of a Turnkey organization for a user outside its root quorum. They are two, because Turnkey
 * evaluates every part of a condition, and a payload is typed data or an authorization.
 */
export function turnkeyPolicies(terms: PolicyTerms & { userId: string; walletId: string }): TurnkeyPolicy[] {
	const { addresses, numbers, words } = fieldsOf(terms);
	const payload = (encoding: string) => [
		`activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'`,
		`activity.params.encoding == '${encoding}'`,
		`wallet.id == '${terms.walletId}'`,
	];
	const message = (field: string) => `eth.eip_712.message['${field}']`;
	const delegation = "eth.eip_7702_authorization";
	const policy = (policyName: string, conditions: string[]): TurnkeyPolicy => ({
		policyName,
		effect: "EFFECT_ALLOW",
		consensus: `approvers.any(user, user.id == '${terms.userId}')`,
		condition: conditions.join(" && "),
		notes: "Nothing else is allowed to this user",
	});
	return [
		policy("Orders of Geoswap", [
			...payload("PAYLOAD_ENCODING_EIP712"),
			`eth.eip_712.domain.name == 'Geoswap'`,
			`eth.eip_712.domain.version == '1'`,
			`eth.eip_712.domain.chain_id == ${terms.chainId}`,
			`eth.eip_712.domain.verifying_contract == '${terms.escrow.toLowerCase()}'`,
			`eth.eip_712.primary_type == '${primaryType}'`,
			// Turnkey compares hex in lower case, and typed data reaches it so.
			...[...addresses, ...words].map(([field, value]) => `${message(field)} == '${value.toLowerCase()}'`),
			// A number is what it is in JSON: text, which can only be equal, or a number, see `withAmountAsNumber`.
			...numbers.map(
				([field, sign, value]) => `${message(field)} ${sign} ${sign === "==" ? `'${value}'` : value}`,
			),
		]),
		policy("The delegation of a first swap to Geoswap", [
			...payload("PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"),
			`${delegation}.chain_id == ${terms.chainId}`,
			// Whether an authorization's address is written in lower case before it is compared is not documented.
			`(${[terms.delegate.toLowerCase(), getAddress(terms.delegate)].map((one) => `${delegation}.address == '${one}'`).join(" || ")})`,
		]),
	];
}

/**
 * Returns a Turnkey account that sends an order's input amount as a number, because Turnkey's policies cannot compare
 * the size of text. The hash is the same. An amount of more than 2 ** 53 stays text, and is refused.
 */
export function withAmountAsNumber(account: EvmAccount): EvmAccount {
	return {
		...account,
		signTypedData: async (typedData) => {
			const { message } = typedData;
			const inputAmount = Number(message.inputAmount);
			const fits = Number.isSafeInteger(inputAmount);
			const sent = fits ? { ...typedData, message: { ...message, inputAmount } } : typedData;
			return (await account.signTypedData?.(sent)) ?? "0x";
		},
	};
}
