// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {InputCap, Mandate, OutputToken} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {EscrowState, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {packDeadlines, termsOf, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";

contract MandatesTest is Wallets {
    uint256 private constant STRANGER_KEY = uint256(keccak256("stranger"));
    uint256 private constant CAP = 1000e6;

    function test_anAgentSwapsWithinItsMandate() public {
        Order memory order = _agentOrder(CAP);
        uint256 before = plain.balanceOf(wallet);
        _agentOpens(_mandate(), order);
        vm.assertEq(plain.balanceOf(address(escrow)), CAP, "held");
        vm.assertEq(before - plain.balanceOf(wallet), CAP, "paid");
    }

    function test_anAgentsPersonalSignatureCountsUnlessTheWalletIsTypedOnly() public {
        Order memory order = _agentOrder(1);
        bytes memory proof = _agentProof(PERSONAL, AGENT_KEY, _mandate(), KEY, order);
        _delegate(wallet, typedOnly);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoAccount.Opaque.selector));
        _delegate(wallet, account);
        _openFor(order, proof);
        _isState(order, EscrowState.Opened);
    }

    function test_anOrderOfTheOwnersNeedsNoMandateAndUsesNoneUp() public {
        _openFor(_order(), _proof(TYPED, KEY, _order()));
        _agentOpens(_mandate(), _agentOrder(CAP));
    }

    function test_aKeyWithoutAMandateOpensNothing() public {
        Order memory order = _agentOrder(1);
        bytes memory reason = abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, agent);
        _openForReverts(order, _proof(TYPED, AGENT_KEY, order), reason);
    }

    function test_aMandateIsItsOwnAgentsAlone() public {
        Order memory order = _agentOrder(1);
        bytes memory proof = _agentProof(TYPED, STRANGER_KEY, _mandate(), KEY, order);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, stranger));
    }

    function test_aMandateThatItsWalletDidNotSignIsNone() public {
        Order memory order = _agentOrder(1);
        bytes memory proof = _agentProof(TYPED, AGENT_KEY, _mandate(), AGENT_KEY, order);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, agent));
    }

    /// @dev 32 opaque bytes sign no mandate, regardless of what the wallet's delegate accepts for orders.
    function test_aMandateThatWasSignedAsOpaqueBytesIsNone() public {
        Order memory order = _agentOrder(1);
        bytes32 digest = _personalDigest(_typedDigest(address(escrow), _mandateHash(_mandate())));
        bytes memory proof = bytes.concat(_proof(TYPED, AGENT_KEY, order), abi.encode(_mandate(), _sign(KEY, digest)));
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function test_aMandateWithASignatureOfAnotherLengthIsNone() public {
        Order memory order = _agentOrder(1);
        bytes memory signature = _sign(KEY, _typedDigest(address(escrow), _mandateHash(_mandate())));
        bytes memory longer = bytes.concat(signature, hex"00");
        bytes memory proof = bytes.concat(_proof(TYPED, AGENT_KEY, order), abi.encode(_mandate(), longer));
        _openForReverts(order, proof, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureLength.selector, 66));
    }

    function test_bytesThatAreNoMandateOpenNothing() public {
        Order memory order = _agentOrder(1);
        bytes memory proof = bytes.concat(_proof(TYPED, AGENT_KEY, order), "no mandate at all");
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function test_aMandateIsItsOwnWalletsAlone() public {
        Mandate memory mandate = _mandate();
        mandate.wallet = stranger;
        _isOutside(mandate, _agentOrder(1));
    }

    function test_aMandateOfOneChainIsNoneOnAnother() public {
        Order memory order = _agentOrder(1);
        bytes memory signature = _sign(KEY, _typedDigest(address(escrow), _mandateHash(_mandate())));
        vm.chainId(THERE);
        order.originChainId = THERE;
        bytes memory proof = bytes.concat(_proof(TYPED, AGENT_KEY, order), abi.encode(_mandate(), signature));
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function test_aMandateIsGoodUntilTheSecondOfItsExpiry() public {
        Mandate memory mandate = _mandate();
        mandate.expiry = uint64(NOW + 100);
        vm.warp(NOW + 99);
        _agentOpens(mandate, _agentOrder(1));
        bytes memory reason = abi.encodeWithSelector(IGeoAccount.MandateExpired.selector, NOW + 100);
        vm.warp(NOW + 100);
        _agentReverts(mandate, _agentOrder(2), reason);
        vm.warp(NOW + 101);
        _agentReverts(mandate, _agentOrder(2), reason);
    }

    function test_aMandateOfAnotherEpochIsNone() public {
        Mandate memory mandate = _mandate();
        mandate.epoch = 1;
        _isOutside(mandate, _agentOrder(1));
        vm.prank(wallet);
        _mine().revokeMandates("");
        _agentOpens(mandate, _agentOrder(1));
        mandate.epoch = 0;
        _isOutside(mandate, _agentOrder(2));
    }

    function test_anAgentSwapsOnlyThroughTheDeskOfItsMandate() public {
        Order memory order = _agentOrder(1);
        order.originVault = word(stranger);
        _isOutside(_mandate(), order);
        order = _agentOrder(1);
        order.attesterSet = keccak256("others");
        _isOutside(_mandate(), order);
    }

    function test_withinOneChainTheDesksOwnVaultMustDeliver() public {
        Mandate memory mandate = _mandate();
        mandate.outputs = new OutputToken[](0);
        Order memory order = _agentOrder(1);
        order.destinationChainId = HERE;
        order.destinationVault = word(stranger);
        _isOutside(mandate, order);
        order.destinationVault = word(address(vault));
        _agentOpens(mandate, order);
    }

    function test_anAgentBuysOnlyWhatItsMandateLists() public {
        Mandate memory mandate = _mandate();
        mandate.outputs = new OutputToken[](2);
        mandate.outputs[0] = OutputToken(THERE, word(address(other)));
        mandate.outputs[1] = OutputToken(THERE + 1, keccak256("a token"));
        Order memory order = _agentOrder(1);
        order.outputToken = keccak256("a token");
        _isOutside(mandate, order);
        order.destinationChainId = THERE + 1;
        _agentOpens(mandate, order);
        order.outputToken = word(address(other));
        _isOutside(mandate, order);
        order.destinationChainId = THERE;
        _agentOpens(mandate, order);
    }

    function test_withoutAListOfOutputsAnAgentBuysAnything() public {
        Mandate memory mandate = _mandate();
        mandate.outputs = new OutputToken[](0);
        Order memory order = _agentOrder(1);
        (order.outputToken, order.destinationChainId) = (keccak256("anything"), 12345);
        _agentOpens(mandate, order);
    }

    function test_theOutputGoesToTheWalletOrAListedRecipientAlone() public {
        Mandate memory mandate = _mandate();
        Order memory order = _agentOrder(1);
        order.recipient = word(agent);
        _isOutside(mandate, order);
        mandate.recipients = new bytes32[](2);
        (mandate.recipients[0], mandate.recipients[1]) = (word(recipient), keccak256("a key of Solana's"));
        _isOutside(mandate, order);
        order.recipient = word(recipient);
        _agentOpens(mandate, order);
        order.recipient = word(wallet);
        _agentOpens(mandate, order);
        // A word whose lower bytes are the wallet's is not the wallet.
        order.recipient = bytes32(uint256(word(wallet)) | (1 << 160));
        _isOutside(mandate, order);
    }

    /// @dev There the wallet's address would have no known key.
    function test_onSolanaTheWalletIsNoRecipient() public {
        Mandate memory mandate = _mandate();
        mandate.outputs = new OutputToken[](0);
        mandate.recipients = new bytes32[](1);
        mandate.recipients[0] = keccak256("a key of Solana's");
        Order memory order = _agentOrder(1);
        order.destinationChainId = SOLANA;
        _isOutside(mandate, order);
        order.recipient = mandate.recipients[0];
        _agentOpens(mandate, order);
        // Its owner may still list it.
        mandate.recipients[0] = word(wallet);
        order.recipient = word(wallet);
        _agentOpens(mandate, order);
    }

    function test_aMandateHasAtMostSixteenEntriesInEachList() public {
        for (uint256 list = 0; list < 3; ++list) {
            _agentOpens(_long(list, 16), _agentOrder(list + 1));
            _isOutside(_long(list, 17), _agentOrder(list + 4));
        }
    }

    function test_aMandateWithoutAPeriodIsNone() public {
        Mandate memory mandate = _mandate();
        mandate.period = 0;
        _isOutside(mandate, _agentOrder(1));
    }

    function test_anInputThatIsNotListedIsOutside() public {
        Order memory order = _agentOrder(1);
        order.inputToken = word(address(other));
        _isOutside(_mandate(), order);
        order.inputToken = 0;
        _isOutside(_mandate(), order);
    }

    function test_anAgentSpendsNoMoreThanTheCapAtOnce() public {
        Mandate memory mandate = _mandate();
        _exceeds(mandate, CAP + 1, CAP);
        _exceeds(mandate, type(uint128).max, CAP);
        _agentOpens(mandate, _agentOrder(600e6));
        _exceeds(mandate, 400e6 + 1, 400e6);
        _agentOpens(mandate, _agentOrder(400e6));
        _exceeds(mandate, 1, 0);
    }

    function test_anOrderThatDoesNotOpenUsesNothingUp() public {
        Mandate memory mandate = _mandate();
        Order memory order = _agentOrder(CAP);
        order.inputToken = word(address(fee));
        mandate.inputs[0].token = address(fee);
        fee.setFee(1);
        bytes memory proof = _agentProof(mandate, order);
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
        fee.setFee(0);
        _openFor(order, proof);
    }

    /// @dev The day's cap becomes free linearly. After half a day, half is free, after a day all, and never more.
    function test_aUsedCapBecomesFreeOverThePeriod() public {
        Mandate memory mandate = _mandate();
        _agentOpens(mandate, _agentOrder(CAP));
        vm.warp(NOW + 86);
        _exceeds(mandate, 1e6, CAP * 86 / 1 days);
        vm.warp(NOW + 1 days / 2);
        _exceeds(mandate, CAP / 2 + 1, CAP / 2);
        vm.warp(NOW + 1 days - 1);
        _exceeds(mandate, CAP, CAP * (1 days - 1) / 1 days);
        vm.warp(NOW + 1 days);
        _exceeds(mandate, CAP + 1, CAP);
        vm.warp(NOW + 20 days);
        _exceeds(mandate, CAP + 1, CAP);
        _agentOpens(mandate, _late(CAP));
    }

    /// @dev An agent that uses the whole cap before and after the end of a period gets two caps, no more.
    function test_aroundTheEndOfAPeriodAnAgentSpendsAtMostTwoCaps() public {
        Mandate memory mandate = _mandate();
        _agentOpens(mandate, _late(CAP));
        vm.warp(NOW + 1 days);
        _agentOpens(mandate, _late(CAP));
        vm.warp(NOW + 1 days + 1);
        _exceeds(mandate, CAP, CAP / 1 days);
        vm.assertEq(plain.balanceOf(address(escrow)), 2 * CAP, "spent");
    }

    function test_aCapOfNothingLetsNothingOut() public {
        Mandate memory mandate = _mandate();
        mandate.inputs[0].maxAmount = 0;
        _exceeds(mandate, 1, 0);
    }

    function test_aCapOfEverythingAndAPeriodOfASecondDoNotOverflow() public {
        Mandate memory mandate = _mandate();
        mandate.inputs[0].maxAmount = type(uint128).max;
        mandate.period = 1;
        plain.mint(wallet, type(uint128).max);
        _agentOpens(mandate, _agentOrder(type(uint128).max));
        _exceeds(mandate, 1, 0);
        plain.mint(wallet, type(uint128).max);
        vm.warp(NOW + 29 days);
        _agentOpens(mandate, _late(type(uint128).max));
    }

    function test_eachInputTokenHasItsOwnCap() public {
        Mandate memory mandate = _mandate();
        mandate.inputs = new InputCap[](3);
        mandate.inputs[0] = InputCap(address(plain), 10);
        mandate.inputs[1] = InputCap(address(other), 20);
        mandate.inputs[2] = InputCap(NATIVE, 30);
        bytes32[3] memory tokens = [word(address(plain)), word(address(other)), bytes32(0)];
        for (uint256 i = 0; i < 3; ++i) {
            Order memory order = _agentOrder((i + 1) * 10);
            order.inputToken = tokens[i];
            _agentOpens(mandate, order);
            order.inputAmount = 1;
            _agentReverts(mandate, order, abi.encodeWithSelector(IGeoAccount.MandateExceeded.selector, 1, 0));
        }
        vm.assertEq(address(escrow).balance, 30, "native");
    }

    function test_aTokenThatIsListedTwiceHasItsFirstCapAlone() public {
        Mandate memory mandate = _mandate();
        mandate.inputs = new InputCap[](2);
        mandate.inputs[0] = InputCap(address(plain), 10);
        mandate.inputs[1] = InputCap(address(plain), 1000);
        _exceeds(mandate, 11, 10);
        _agentOpens(mandate, _agentOrder(10));
        _exceeds(mandate, 1, 0);
    }

    /// @dev Two mandates of one agent add up, because their owner signed both.
    function test_eachMandateHasItsOwnCap() public {
        Mandate memory second = _mandate();
        second.expiry += 1;
        _agentOpens(_mandate(), _agentOrder(CAP));
        Order memory order = _agentOrder(CAP);
        order.swapKey = keccak256("second");
        _agentOpens(second, order);
        _exceeds(second, 1, 0);
        _exceeds(_mandate(), 1, 0);
    }

    function test_anAgentsOrdersInOneBatchShareItsCap() public {
        Opening[] memory openings = new Opening[](4);
        Order[] memory orders = new Order[](4);
        for (uint256 i = 0; i < 4; ++i) {
            orders[i] = _agentOrder(400e6);
            orders[i].swapKey = bytes32(i);
            openings[i] = _opening(orders[i], 400_000, _agentProof(_mandate(), orders[i]));
        }
        escrow.openMany(openings);
        for (uint256 i = 0; i < 4; ++i) {
            vm.assertTrue(_isOpen(orders[i]) == (i < 2), "state");
        }
    }

    /// @dev Expects the agent's order to be refused for its amount.
    function _exceeds(Mandate memory mandate, uint256 amount, uint256 available) private {
        bytes memory reason = abi.encodeWithSelector(IGeoAccount.MandateExceeded.selector, amount, available);
        _agentReverts(mandate, _late(amount), reason);
    }

    /// @dev An order that can be opened at the current time.
    function _late(uint256 amount) private view returns (Order memory order) {
        uint256 time = vm.getBlockTimestamp();
        order = _agentOrder(amount);
        order.deadlines = packDeadlines(time + 300, time + 1000, time + 90_000);
    }

    /// @dev A mandate with this many entries in one of its lists, the last of which is the one that is used.
    function _long(uint256 list, uint256 count) private view returns (Mandate memory mandate) {
        mandate = _mandate();
        if (list == 0) {
            mandate.inputs = new InputCap[](count);
            mandate.inputs[count - 1] = InputCap(address(plain), uint128(CAP));
            for (uint160 i = 0; i < count - 1; ++i) {
                mandate.inputs[i].token = address(i + 1);
            }
        } else if (list == 1) {
            mandate.outputs = new OutputToken[](count);
            mandate.outputs[count - 1] = OutputToken(THERE, word(address(other)));
        } else {
            mandate.recipients = new bytes32[](count);
            mandate.recipients[count - 1] = word(recipient);
        }
    }
}
