.PHONY: demo test
demo test:
	python3 run.py $@
