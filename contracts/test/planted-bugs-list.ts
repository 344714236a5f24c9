// Each bug is a contract and the edits that plant it. The text to replace must be in the contract exactly once.

/** Text that must be in the contract exactly once, and what takes its place. */
type Edit = [from: string, to: string];

export type PlantedBug = {
	name: string;
	contract: "GeoEscrow" | "GeoVault" | "GeoAccount";
	edits: Edit[];
	/** The suite that must catch it, where it is not the contract's usual one. */
	match?: string;
};

type BugOfOneContract = Omit<PlantedBug, "contract">;

const escrowBugs: BugOfOneContract[] = [
	{
		name: "double-release",
		edits: [["orderState[orderId] = EscrowState.Released;\n", "\n"]],
	},
	{
		name: "double-release-in-a-list",
		edits: [
			[
				"bytes32[] memory orderIds = new bytes32[](orders.length);",
				"bytes32[] memory orderIds = new bytes32[](orders.length);\n        bool[] memory isOpen = new bool[](orders.length);",
			],
			[
				"orderIds[i] = orders[i].orderId();",
				"orderIds[i] = orders[i].orderId();\n            isOpen[i] = orderState[orderIds[i]] == EscrowState.Opened;",
			],
			[
				"orderState[orderIds[i]] == EscrowState.Opened && orders[i].attesterSet == set",
				"isOpen[i] && orders[i].attesterSet == set",
			],
		],
	},
	{
		name: "no-reentrancy-guard",
		edits: [
			[
				"contract GeoEscrow is IGeoEscrow, EIP712, ReentrancyGuardTransient {",
				"contract GeoEscrow is IGeoEscrow, EIP712 {\n    modifier nonReentrant() {\n        _;\n    }\n",
			],
		],
	},
	{
		name: "refund-deadline-with-the-wrong-sign",
		edits: [
			[
				"block.timestamp < order.deadlines.refundAfter() &&",
				"block.timestamp > order.deadlines.refundAfter() &&",
			],
		],
	},
	{
		name: "open-deadline-with-the-wrong-sign",
		edits: [
			[
				"block.timestamp > terms.deadlines.openDeadline()",
				"block.timestamp < terms.deadlines.openDeadline()",
			],
		],
	},
	{
		name: "another-escrows-order-accepted",
		edits: [
			[
				"if (orderState[orderId] != EscrowState.Opened) revert NotOpen(orderId);",
				"if (order.escrow == toWord(address(this)) && orderState[orderId] != EscrowState.Opened) revert NotOpen(orderId);",
			],
		],
	},
	{
		name: "failed-release-leaves-the-order-refundable",
		edits: [
			[
				"            credit[token][to] += order.inputAmount;",
				"            credit[token][to] += order.inputAmount;\n            orderState[orderId] = EscrowState.Opened;",
			],
		],
	},
	{
		name: "credit-goes-to-the-caller",
		edits: [["credit[token][to] += order.inputAmount;", "credit[token][msg.sender] += order.inputAmount;"]],
	},
	{
		name: "fee-on-transfer-accepted",
		edits: [["if (received != terms.inputAmount) revert", "if (received > terms.inputAmount) revert"]],
	},
	{
		name: "threshold-ignored",
		edits: [["if (count < attestation.threshold || attestation.threshold == 0) {", "if (count == 0) {"]],
	},
	{
		name: "one-signer-counts-twice",
		edits: [["if (signer <= previous)", "if (signer < previous)"]],
	},
	{
		name: "attester-set-not-compared",
		edits: [
			["if (order.attesterSet != set) revert WrongAttesterSet(order.attesterSet, set);", ""],
			["&& orders[i].attesterSet == set", ""],
		],
	},
	{
		name: "a-release-attestation-refunds",
		edits: [['keccak256("Refund(bytes32[] orderIds)")', 'keccak256("Release(bytes32[] orderIds)")']],
	},
	{
		name: "a-claim-keeps-the-credit",
		edits: [["credit[token][beneficiary] = 0;", ""]],
	},
	{
		name: "a-claim-pays-the-caller",
		edits: [["_claim(token, beneficiary, beneficiary);", "_claim(token, beneficiary, msg.sender);"]],
	},
	{
		name: "same-chain-refund-before-expiry",
		edits: [
			[
				"(state == VaultState.None && block.timestamp >= order.deadlines.fillDeadline())",
				"state == VaultState.None",
			],
		],
	},
];

const vaultBugs: BugOfOneContract[] = [
	{
		name: "fills-twice",
		edits: [
			[
				"if (orderState[orderId] != VaultState.None) revert AlreadyDecided(orderId);\n        if (block.timestamp",
				"if (orderState[orderId] == VaultState.Voided) revert AlreadyDecided(orderId);\n        if (block.timestamp",
			],
		],
	},
	{
		name: "fills-after-a-void",
		edits: [
			[
				"if (orderState[orderId] != VaultState.None) revert AlreadyDecided(orderId);\n        if (block.timestamp",
				"if (orderState[orderId] == VaultState.Filled) revert AlreadyDecided(orderId);\n        if (block.timestamp",
			],
		],
	},
	{
		name: "voids-after-a-fill",
		edits: [
			[
				"else if (orderState[orderId] != VaultState.None) emit",
				"else if (orderState[orderId] == VaultState.Voided) emit",
			],
		],
	},
	{
		name: "fill-deadline-with-the-wrong-sign",
		edits: [
			[
				"block.timestamp >= order.deadlines.fillDeadline()) revert",
				"block.timestamp < order.deadlines.fillDeadline()) revert",
			],
		],
	},
	{
		name: "minimum-ignored",
		edits: [["if (delivered < minimum) revert TooLittleDelivered(delivered, minimum);", ""]],
	},
	{
		name: "what-arrives-is-not-measured",
		edits: [
			[
				"return IERC20(token).balanceOf(recipient) - before;",
				"return IERC20(token).balanceOf(recipient) < before ? 0 : item.amount;",
			],
		],
	},
	{
		name: "cap-ignored",
		edits: [
			[
				"if (amount > available) revert OutflowCapExceeded(token, amount, available);",
				"if (amount > type(uint96).max) revert OutflowCapExceeded(token, amount, available);",
			],
		],
	},
	{
		name: "cap-drains-too-fast",
		// A campaign seldom comes near the cap for a whole hour.
		match: "OutflowFuzzTest",
		edits: [
			[
				"(block.timestamp - outflow.updatedAt) / 1 hours",
				"(block.timestamp - outflow.updatedAt) / 1 minutes",
			],
		],
	},
	{
		name: "delivers-without-the-release",
		edits: [["ESCROW.releaseFilled(order);", ""]],
	},
	{
		name: "another-vaults-order-filled",
		edits: [
			[
				"order.destinationChainId == block.chainid && order.destinationVault == toWord(address(this))",
				"order.destinationChainId == block.chainid || order.destinationVault == toWord(address(this))",
			],
		],
	},
	{
		name: "same-chain-input-goes-elsewhere",
		edits: [[" || order.originVault != toWord(address(this))", ""]],
	},
	{
		name: "fills-while-paused",
		edits: [
			[
				"function fill(Fill calldata item) external restricted whenNotPaused",
				"function fill(Fill calldata item) external restricted",
			],
		],
	},
	{
		name: "anyone-withdraws",
		edits: [
			["uint256 amount) external restricted nonReentrant {", "uint256 amount) external nonReentrant {"],
		],
	},
	{
		name: "allowance-left-to-the-router",
		edits: [["if (left != 0) revert BudgetNotSpent(left);", ""]],
	},
];

const accountBugs: BugOfOneContract[] = [
	{
		name: "anyone-executes",
		edits: [["return caller == address(entryPoint()) ||", "return caller != address(0) ||"]],
	},
	{
		name: "raw-hash-accepted",
		edits: [["return MessageHashUtils.toEthSignedMessageHash(userOpHash);", "return userOpHash;"]],
	},
	{
		name: "any-signature-valid-for-contracts",
		edits: [
			[
				"_rawSignatureValidation(hash, signature) ?",
				"signature.length == 65 || _rawSignatureValidation(hash, signature) ?",
			],
		],
	},
];

const of = (contract: PlantedBug["contract"], bugs: BugOfOneContract[]): PlantedBug[] =>
	bugs.map((bug) => ({ contract, ...bug, name: `${contract}-${bug.name}` }));

export const plantedBugs: PlantedBug[] = [
	...of("GeoEscrow", escrowBugs),
	...of("GeoVault", vaultBugs),
	...of("GeoAccount", accountBugs),
];
