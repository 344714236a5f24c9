// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {InputCap, Mandate, OutputToken} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {EscrowState} from "../../src/interfaces/IGeoEscrow.sol";
import {packDeadlines, termsOf, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";

contract MandatesFuzzTest is Wallets {
    uint256 private constant CAP = 1000e6;

    /// forge-config: default.fuzz.runs = 50
    function testFuzz_aMandatesHashIsThatOfItsTypedData(Mandate memory mandate) public pure {
        vm.assertEq(mandate.mandateHash(), _mandateHash(mandate), "hash");
    }

    /// @dev Each field is another mandate, which its owner did not sign.
    function testFuzz_anyOtherFieldOfAMandateOpensNothing(uint8 field, uint256 value) public {
        Mandate memory mandate = _mandate();
        mandate.recipients = new bytes32[](1);
        mandate.recipients[0] = word(recipient);
        bytes memory signature = _sign(KEY, _typedDigest(address(escrow), _mandateHash(mandate)));
        bytes32 signed = _mandateHash(mandate);
        _change(mandate, field % 12, value);
        vm.assume(_mandateHash(mandate) != signed);
        Order memory order = _agentOrder(1);
        bytes memory proof = bytes.concat(_proof(TYPED, AGENT_KEY, order), abi.encode(mandate, signature));
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
        _isState(order, EscrowState.None);
    }

    /// @dev If any bit after the agent's signature is changed, what was used stays used.
    function testFuzz_noOtherEncodingOfAMandateHasACapOfItsOwn(uint256 place, uint8 bit) public {
        _agentOpens(_mandate(), _agentOrder(CAP));
        Order memory order = _agentOrder(1);
        bytes memory proof = _agentProof(_mandate(), order);
        place = 66 + place % (proof.length - 66);
        proof[place] ^= bytes1(uint8(1 << (bit % 8)));
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
    }

    /// @dev Over any window of T seconds, at most `maxAmount` × (1 + T / period). Computed here without any rounding,
    /// since times are multiplied, not divided.
    function testFuzz_anAgentMovesAtMostTheCapAndItsShareOfTime(
        uint128 maxAmount,
        uint32 period,
        uint64[12] memory amounts,
        uint32[12] memory delays
    ) public {
        vm.assume(maxAmount != 0 && period != 0);
        Mandate memory mandate = _mandate();
        mandate.inputs[0].maxAmount = maxAmount;
        mandate.period = period;
        mandate.expiry = type(uint64).max;
        plain.mint(wallet, type(uint160).max);
        uint256 level;
        uint256 time = NOW;
        for (uint256 i = 0; i < amounts.length; ++i) {
            uint256 delay = delays[i] % (2 * uint256(period));
            (time, level) = (time + delay, _drained(level, uint256(maxAmount) * delay));
            vm.warp(time);
            uint256 left = maxAmount - (level + period - 1) / period;
            // As much as is left, one unit more, or some other amount.
            uint256 amount = amounts[i] % 3 == 0 ? left : amounts[i] % 3 == 1 ? left + 1 : amounts[i];
            if (_tries(mandate, amount, time, i)) {
                level += amount * period;
                vm.assertLe(level, uint256(maxAmount) * period, "more than the cap");
            } else {
                // Each order may cost the agent one unit by rounding, and never the wallet.
                vm.assertTrue(amount == 0 || amount > type(uint128).max || amount + i > left, "refused too early");
            }
        }
    }

    function _tries(Mandate memory mandate, uint256 amount, uint256 time, uint256 i) private returns (bool ok) {
        Order memory order = _agentOrder(amount);
        order.swapKey = bytes32(i);
        order.deadlines = packDeadlines(time + 1, time + 2, time + 3);
        bytes memory data = abi.encodeCall(escrow.openFor, (wallet, termsOf(order), _agentProof(mandate, order)));
        (ok,) = address(escrow).call(data);
    }

    function _drained(uint256 level, uint256 amount) private pure returns (uint256) {
        return level > amount ? level - amount : 0;
    }

    function _change(Mandate memory mandate, uint256 field, uint256 value) private pure {
        if (field == 0) mandate.wallet = address(uint160(value));
        if (field == 1) mandate.agent = address(uint160(value));
        if (field == 2) mandate.epoch = uint64(value);
        if (field == 3) mandate.expiry = uint64(value);
        if (field == 4) mandate.period = uint32(value);
        if (field == 5) mandate.originVault = address(uint160(value));
        if (field == 6) mandate.attesterSet = bytes32(value);
        if (field == 7) mandate.inputs[0].token = address(uint160(value));
        if (field == 8) mandate.inputs[0].maxAmount = uint128(value);
        if (field == 9) mandate.outputs[0] = OutputToken(value, mandate.outputs[0].token);
        if (field == 10) mandate.recipients[0] = bytes32(value);
        if (field != 11) return;
        // A list more or less.
        if (value % 3 == 0) mandate.inputs = new InputCap[](value % 4);
        if (value % 3 == 1) mandate.outputs = new OutputToken[](value % 4);
        if (value % 3 == 2) mandate.recipients = new bytes32[](value % 4);
    }
}
