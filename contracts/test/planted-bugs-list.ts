// Each bug is a contract and the edits that plant it. The text to replace must be in its file exactly once.

/** Text that must be in the file exactly once, its replacement, and the file if it is not the contract's own. */
type Edit = [from: string, to: string, file?: string];

export type PlantedBug = {
	name: string;
	contract: "GeoEscrow" | "GeoVault" | "GeoAccount" | "CctpRoute";
	edits: Edit[];
	/** The suite that must catch it, where it is not the campaign. */
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
				`contract GeoEscrow is IGeoEscrow, EIP712 {
    error ReentrancyGuardReentrantCall();
    bool private transient isEntered;

    modifier nonReentrant() {
        bool before = isEntered;
        isEntered = true;
        _;
        isEntered = before;
    }

    function _reentrancyGuardEntered() private view returns (bool) {
        return isEntered;
    }
`,
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
	{
		name: "open-for-without-the-guard",
		edits: [
			[
				"bytes calldata proof)\n        external\n        nonReentrant\n",
				"bytes calldata proof)\n        external\n",
			],
		],
	},
	{
		name: "open-many-while-a-wallet-pays",
		edits: [["if (_reentrancyGuardEntered()) revert ReentrancyGuardReentrantCall();", ""]],
	},
	{
		name: "open-many-without-the-gas-check",
		edits: [
			[
				"if (gasleft() < item.gas + item.gas / 63 + CALL_GAS + item.proof.length) revert InsufficientGas();",
				"",
			],
		],
	},
	{
		name: "an-items-gas-is-unbounded",
		edits: [["this.openFor{gas: item.gas}(", "this.openFor("]],
	},
	{
		name: "state-written-for-an-unpaid-order",
		edits: [
			[
				"            catch {\n",
				"            catch {\n                orderState[orderOf(item.terms, item.wallet, address(this)).orderId()] = EscrowState.Opened;\n",
			],
		],
	},
	{
		name: "payment-not-measured",
		edits: [
			[
				"_setOpened(orderId, wallet, terms, _balance(token) - before);",
				"_setOpened(orderId, wallet, terms, _balance(token) < before ? 0 : terms.inputAmount);",
			],
		],
	},
	{
		name: "the-native-token-is-taken-at-any-time",
		edits: [["if (!_reentrancyGuardEntered()) revert NotOpening();", ""]],
	},
	{
		name: "an-id-without-the-top-up",
		edits: [
			[
				"orderId = orderOf(terms, wallet, address(this)).orderId();",
				"Order memory order = orderOf(terms, wallet, address(this));\n        order.topUp = 0;\n        orderId = order.orderId();",
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
		edits: [["if (amount > left || cap.perHour == 0)", "if (cap.perHour == 0)", "Cap.sol"]],
	},
	{
		name: "cap-drains-at-once",
		// A campaign seldom stays near the cap for a whole hour.
		match: "CapsFuzzTest",
		edits: [["maxAmount * (block.timestamp - updatedAt) / period;", "used;", "Cap.sol"]],
	},
	{
		name: "cap-drains-too-fast",
		match: "CapsFuzzTest",
		edits: [
			[
				"(block.timestamp - updatedAt) / period;",
				"(block.timestamp - updatedAt) / (period / 60);",
				"Cap.sol",
			],
		],
	},
	{
		name: "cap-never-drains",
		match: "CapsFuzzTest",
		edits: [["maxAmount * (block.timestamp - updatedAt) / period;", "0;", "Cap.sol"]],
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
	{
		name: "a-trade-without-the-floor",
		edits: [
			[
				"Math.max(minOut, tradeFloor(tokenIn, tokenOut, amountIn))",
				"Math.max(minOut, Math.min(1, tradeFloor(tokenIn, tokenOut, amountIn)))",
			],
		],
	},
	{
		name: "a-trade-without-its-own-minimum",
		edits: [
			[
				"Math.max(minOut, tradeFloor(tokenIn, tokenOut, amountIn))",
				"tradeFloor(tokenIn, tokenOut, amountIn)",
			],
		],
	},
	{
		name: "a-trade-without-a-cap",
		edits: [["_cap(CapKind.Trade, tokenIn, address(0)).spend(amountIn);", ""]],
	},
	{
		name: "a-trade-at-a-stale-price",
		edits: [
			[" || block.timestamp > updatedAt + feed.maxAge", " || updatedAt > block.timestamp + feed.maxAge"],
		],
	},
	{
		name: "a-trade-while-the-sequencer-is-down",
		edits: [["        _checkSequencer();\n", "\n"]],
	},
	{
		name: "feed-decimals-swapped",
		edits: [
			["10 ** (uint256(bought.feedDecimals) + bought.tokenDecimals)", "10 ** (uint256(sold.feedDecimals))"],
			["* 10 ** (uint256(sold.feedDecimals) + sold.tokenDecimals)", "* 10 ** (uint256(bought.feedDecimals))"],
		],
	},
	{
		name: "what-a-trade-returns-is-not-measured",
		edits: [
			["        _swap(from, to, address(this)", "        amountOut = _swap(from, to, address(this)"],
			["amountOut = IERC20(to).balanceOf(address(this)) - before;", "before;"],
		],
	},
	{
		name: "a-trade-after-its-deadline",
		edits: [["if (block.timestamp > deadline) revert TradeExpired(deadline);", ""]],
	},
	{
		name: "a-trade-of-any-pair",
		edits: [
			[
				"if ((tokenIn == SETTLEMENT_TOKEN) == (tokenOut == SETTLEMENT_TOKEN)) revert WrongPair(tokenIn, tokenOut);",
				"",
			],
		],
	},
	{
		name: "a-move-made-twice",
		edits: [["if (isMoved[moveId]) revert AlreadyMoved(moveId);", ""]],
	},
	{
		name: "a-move-not-marked",
		edits: [["        isMoved[moveId] = true;\n", ""]],
	},
	{
		name: "a-move-made-once-for-each-kind",
		edits: [
			[
				"_moveOnce(moveId, amount);\n        _cap(CapKind.Send",
				"_moveOnce(keccak256(abi.encode(moveId)), amount);\n        _cap(CapKind.Send",
			],
		],
	},
	{
		name: "a-send-without-a-cap",
		edits: [["_cap(CapKind.Send, token, to).spend(amount);", ""]],
	},
	{
		name: "a-bridge-without-a-cap",
		edits: [["_cap(CapKind.Bridge, token, route).spend(amount);", ""]],
	},
	{
		name: "one-cap-for-all-addresses",
		edits: [
			["keccak256(abi.encode(kind, token, to))", "keccak256(abi.encode(kind, token, to == address(0)))"],
		],
	},
	{
		name: "nothing-moves-without-a-cap",
		edits: [
			["        if (amount == 0) revert ZeroAmount();\n        if (isMoved", "        if (isMoved"],
			["if (amount > left || cap.perHour == 0)", "if (amount > left)", "Cap.sol"],
		],
	},
	{
		name: "sends-while-paused",
		edits: [
			[
				"uint256 amount)\n        external\n        restricted\n        whenNotPaused\n",
				"uint256 amount)\n        external\n        restricted\n",
			],
		],
	},
	{
		name: "anyone-trades",
		edits: [
			[
				") external restricted whenNotPaused nonReentrant returns (uint256 amountOut) {",
				") external whenNotPaused nonReentrant returns (uint256 amountOut) {",
			],
		],
	},
	{
		name: "a-top-up-not-counted",
		edits: [["_cap(CapKind.Fill, address(0), address(0)).spend(amount);", ""]],
	},
	{
		name: "a-top-up-left-out",
		edits: [["if (order.topUp != 0) _topUp(orderId, recipient, order.topUp);", ""]],
	},
	{
		name: "a-top-up-silently-missing",
		match: "GeoVaultTopUpTest",
		edits: [
			[
				"if (address(this).balance < amount) revert NoNative(address(this).balance, amount);",
				"if (address(this).balance < amount) return;",
			],
		],
	},
	{
		name: "a-refused-top-up-fails-the-fill",
		match: "GeoVaultTopUpTest",
		edits: [
			[
				"emit ToppedUp(orderId, amount, tryPayNative(recipient, amount));",
				"_sendNative(recipient, amount);\n        emit ToppedUp(orderId, amount, true);",
			],
		],
	},
	{
		name: "a-round-that-has-not-started-counts",
		match: "GeoVaultFeedsTest",
		edits: [["startedAt == 0 || ", ""]],
	},
];

const accountBugs: BugOfOneContract[] = [
	{
		name: "anyone-is-paid",
		edits: [["if (msg.sender != ESCROW) revert OnlyEscrow(msg.sender);", ""]],
	},
	{
		name: "the-escrows-id-believed",
		edits: [["if (ownId != orderId) revert WrongOrder(orderId);", "ownId = orderId;"]],
	},
	{
		name: "opaque-bytes-accepted-by-typed-only",
		edits: [["if (TYPED_ONLY) revert Opaque();", ""]],
	},
	{
		name: "a-mandate-not-counted",
		edits: [["spent.used = uint128(used + terms.inputAmount);", ""]],
	},
	{
		name: "mandates-counted-together",
		edits: [["state.spent[mandateHash][token]", "state.spent[bytes32(0)][token]"]],
		match: "MandatesTest",
	},
	{
		name: "a-mandate-drains-at-once",
		edits: [["maxAmount * (block.timestamp - updatedAt) / period;", "used;", "Cap.sol"]],
	},
	{
		name: "a-mandates-cap-ignored",
		edits: [
			[
				"if (used + terms.inputAmount > maxAmount) revert MandateExceeded(terms.inputAmount, maxAmount - used);",
				"",
			],
		],
	},
	{
		name: "epoch-ignored",
		edits: [[" || mandate.epoch != state.epoch", ""]],
	},
	{
		name: "expiry-ignored",
		edits: [["if (block.timestamp >= mandate.expiry)", "if (mandate.expiry == 0)"]],
	},
	{
		name: "any-recipient",
		edits: [["return isOutput && isRecipient;", "return isOutput;"]],
	},
	{
		name: "any-output",
		edits: [["return isOutput && isRecipient;", "return isRecipient;"]],
	},
	{
		name: "any-input",
		edits: [
			[
				"mandate.inputs[i].maxAmount;\n        }\n        revert OutsideMandate();",
				"mandate.inputs[i].maxAmount;\n        }\n        return type(uint128).max;",
			],
		],
	},
	{
		name: "the-wallet-on-solana",
		edits: [[" && terms.destinationChainId != SOLANA_CHAIN_ID", ""]],
	},
	{
		name: "another-vault-on-the-same-chain",
		edits: [
			[
				"if (terms.destinationChainId == block.chainid && terms.destinationVault != terms.originVault) return false;",
				"",
			],
		],
	},
	{
		name: "another-vault-is-paid",
		edits: [["if (terms.originVault != toWord(mandate.originVault) || ", "if ("]],
	},
	{
		name: "other-attesters",
		edits: [[" || terms.attesterSet != mandate.attesterSet", ""]],
	},
	{
		name: "a-mandates-owner-unchecked",
		edits: [["if (owner != address(this)) revert WrongSigner(owner);", ""]],
	},
	{
		name: "a-mandates-agent-unchecked",
		edits: [["if (mandate.agent != agent) revert WrongSigner(agent);", ""]],
	},
	{
		name: "another-wallets-mandate",
		edits: [["mandate.wallet != address(this) || ", ""]],
	},
	{
		name: "anyone-revokes",
		edits: [["if (signer != address(this)) revert WrongSigner(signer);", ""]],
	},
	{
		name: "a-revocation-of-any-epoch",
		edits: [
			["abi.encode(REVOKE_TYPEHASH, address(this), epoch)", "abi.encode(REVOKE_TYPEHASH, address(this), 0)"],
		],
	},
	{
		name: "a-revocation-without-effect",
		edits: [["        state.epoch = epoch + 1;\n", "\n"]],
	},
	{
		name: "any-signature-valid-for-contracts",
		match: "GeoAccountTest",
		edits: [
			[
				"problem == ECDSA.RecoverError.NoError && signer == address(this);",
				"problem == ECDSA.RecoverError.NoError && signer != address(0);",
			],
		],
	},
];

const routeBugs: BugOfOneContract[] = [
	{
		name: "pays-the-caller",
		edits: [["DOMAIN, RECIPIENT, token", "DOMAIN, bytes32(uint256(uint160(msg.sender))), token"]],
	},
	{
		name: "for-anyone",
		match: "CctpRouteTest",
		edits: [["if (msg.sender != VAULT) revert OnlyVault(msg.sender);", ""]],
	},
	{
		name: "any-fee",
		match: "CctpRouteTest",
		edits: [["if (fee > maxFee) revert FeeTooHigh(fee, maxFee);", ""]],
	},
];

const of = (contract: PlantedBug["contract"], bugs: BugOfOneContract[]): PlantedBug[] =>
	bugs.map((bug) => ({ contract, ...bug, name: `${contract}-${bug.name}` }));

export const plantedBugs: PlantedBug[] = [
	...of("GeoEscrow", escrowBugs),
	...of("GeoVault", vaultBugs),
	...of("GeoAccount", accountBugs),
	...of("CctpRoute", routeBugs),
];
