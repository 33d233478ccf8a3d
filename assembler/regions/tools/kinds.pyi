from assembler.regions.tools.functions import read_function as read_function
from assembler.regions.tools.definitions import read_definition as read_definition
from assembler.regions.tools.objects import read_object as read_object
from assembler.regions.tools.models import read_model as read_model
from assembler.regions.tools.functions import read_callable as read_callable
