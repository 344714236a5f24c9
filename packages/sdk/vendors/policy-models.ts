import type { CreatePolicyBody } from "@coinbase/cdp-sdk";
import type { TypedDataJson } from "@geoswap/protocol";
import type { PrivyPoliciesService } from "@privy-io/node";
import type { TurnkeyPolicy } from "./policies.ts";

// These functions evaluate policies by the vendors' documentation, as far as the recipes use it. The vendors' own engines
// cannot be run here, and may differ.

type CdpRule = CreatePolicyBody["rules"][number];
type CdpCriterion = Extract<CdpRule, { criteria: unknown }>["criteria"][number];

const includes = (list: readonly string[], one: unknown) =>
	list.some((each) => each.toLowerCase() === String(one).toLowerCase());

/**
 * Models CDP. By its OpenAPI document the first rule decides and the default is to reject. By its guide any rejecting
 * rule decides, and an operation without rules is accepted. Throws if the two readings differ for the policy.
 */
export function cdpAccepts(
	{ rules }: CreatePolicyBody,
	operation: string,
	typedData?: TypedDataJson,
): boolean {
	const own = rules.filter((rule) => rule.operation === operation);
	const met = own.filter((rule) =>
		("criteria" in rule ? (rule.criteria as CdpCriterion[]) : []).every((one) => meetsCdp(one, typedData)),
	);
	const byOrder = met[0]?.action === "accept";
	const byRank = met.length > 0 ? met.every(({ action }) => action === "accept") : own.length === 0;
	if (byOrder !== byRank) throw new Error(`what CDP does with ${operation} depends on which page is right`);
	return byOrder;
}

function meetsCdp(criterion: CdpCriterion, typedData?: TypedDataJson): boolean {
	// The recipe rejects each value and each message.
	if (criterion.type === "ethValue") return criterion.operator === ">=" && criterion.ethValue === "0";
	if (criterion.type === "evmMessage") return criterion.match === ".*";
	if (criterion.type === "evmTypedDataVerifyingContract")
		return includes(criterion.addresses, typedData?.domain.verifyingContract);
	if (criterion.type !== "evmTypedDataField") throw new TypeError(`${criterion.type} has no model`);
	// Whether the fields of the types are compared too is not documented.
	if (typedData?.primaryType !== criterion.types.primaryType) return false;
	return criterion.conditions.every((condition) => {
		const value = String(typedData.message[condition.path]);
		if ("addresses" in condition) return includes(condition.addresses, value);
		if ("match" in condition) return new RegExp(condition.match).test(value);
		const [left, right] = [BigInt(value), BigInt(condition.value)];
		return condition.operator === "<=" ? left <= right : left === right;
	});
}

export type PrivyParams = {
	typed_data?: Omit<TypedDataJson, "primaryType"> & { primary_type: string };
	contract?: `0x${string}`;
	chain_id?: number;
	nonce?: number;
};

/** Models Privy: a method without a rule is denied, and a message's types must be exactly those of the condition. */
export function privyAllows(
	policy: PrivyPoliciesService.CreateInput,
	method: string,
	{ typed_data, contract }: PrivyParams,
): boolean {
	return policy.rules.some(
		(rule) =>
			rule.method === method &&
			rule.conditions.every((condition) => {
				const domain: Record<string, unknown> = typed_data?.domain ?? {};
				let actual: unknown = contract;
				if (condition.field_source === "ethereum_typed_data_domain") actual = domain[condition.field];
				if (condition.field_source === "ethereum_typed_data_message") {
					const { types, primary_type } = condition.typed_data;
					if (primary_type !== typed_data?.primary_type) return false;
					if (JSON.stringify(types) !== JSON.stringify(typed_data.types)) return false;
					actual = typed_data.message[condition.field];
				}
				const { operator, value } = condition;
				if (operator === "lte") return BigInt(String(actual)) <= BigInt(String(value));
				// By one page addresses are compared in any case, by another all text exactly. This is the stricter.
				return [value].flat().includes(String(actual));
			}),
	);
}

export type TurnkeyRequest = { type: string; walletId: string; encoding?: string; payload?: string };

/** Models Turnkey: every part of a condition is evaluated, and a policy of which one part fails does not allow. */
export function turnkeyAllows(policies: TurnkeyPolicy[], request: TurnkeyRequest): boolean {
	const context = turnkeyContext(request);
	return policies.some(({ condition = "" }) => {
		try {
			const parts = condition.split(" && ").map((part) => {
				const alternatives = part.replace(/^\((.*)\)$/, "$1").split(" || ");
				return alternatives.map((one) => compare(one, context)).includes(true);
			});
			return !parts.includes(false);
		} catch {
			return false;
		}
	});
}

function turnkeyContext({ type, walletId, encoding = "", payload = "" }: TurnkeyRequest): object {
	const about = { activity: { type, params: { encoding } }, wallet: { id: walletId } };
	if (encoding === "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION") {
		const { chainId, ...others } = JSON.parse(payload);
		return { ...about, eth: { eip_7702_authorization: { ...others, chain_id: BigInt(chainId) } } };
	}
	if (encoding !== "PAYLOAD_ENCODING_EIP712") return about;
	const { domain, primaryType, message }: TypedDataJson = JSON.parse(payload);
	const { chainId, verifyingContract, ...names } = domain;
	const asCompared = (value: unknown) =>
		typeof value === "number" ? BigInt(value) : String(value).toLowerCase();
	const fields = Object.entries(message).map(([field, value]) => [field, asCompared(value)]);
	const eip_712 = {
		domain: { ...names, chain_id: BigInt(chainId), verifying_contract: verifyingContract.toLowerCase() },
		primary_type: primaryType,
		message: Object.fromEntries(fields),
	};
	return { ...about, eth: { eip_712 } };
}

/** Evaluates `path == literal` or `path <= number`. */
function compare(text: string, context: object): boolean {
	const [, path = "", sign, literal = ""] = /^([\w.]+(?:\['\w+'\])?) (==|<=) ('[^']*'|\d+)$/.exec(text) ?? [];
	if (!sign) throw new SyntaxError(text);
	const value = (path.match(/\w+/g) ?? []).reduce((at: unknown, key) => {
		if (typeof at !== "object" || at === null || !(key in at)) throw new ReferenceError(text);
		return (at as Record<string, unknown>)[key];
	}, context);
	const other = literal.startsWith("'") ? literal.slice(1, -1) : BigInt(literal);
	// Text is not compared with a number, even if it is one in text.
	if (typeof value !== typeof other) throw new TypeError(text);
	return sign === "<=" ? (value as bigint) <= (other as bigint) : value === other;
}
